"""Method names common to libraries of many languages: alone, they do not identify a method."""

from __future__ import annotations

import re

_COMMON = frozenset(
    """
abort accept access acquire Add add addAll addEventListener addListener All all all? allocate and Any any
any? Append append AppendFormat AppendLine apply args as as_bytes as_mut as_ref as_slice as_str assert
assertEqual assertTrue at await back Begin begin bind Body body Bool borrow build byteLength Bytes bytes
bytesize byteslice Call call callback cancel canonicalize capacity casefold catch channel charAt charCodeAt
chars charset check checked_add chomp class_eval Clear clear click Clone clone cloned Close close closest
code collect Commit commit compact compare compareTo compile complete computeIfAbsent Concat concat config
connect const_get Contains contains ContainsKey containsKey content Context context convert copied Copy copy
Count count create CreateCommand createElement cursor data date debug Decode decode deep_copy deepcopy
Default default define_method Delete delete delete_if description deserialize dict digest disconnect dispatch
display Dispose dispose Do Done done downcase drain drop drop_while dump dumps dup each each_byte each_char
each_cons each_entry each_index each_key each_line each_pair each_slice each_value each_with_index
each_with_object Elem element Emit emit emplace emplace_back Empty empty empty? Encode encode end end_with?
EndsWith endsWith endswith ensure enter entries entry entrySet enumerate eql? Equal equal? Equals equals Err
Error error Errorf errors eval event events every Exec exec executable Execute execute ExecuteNonQuery
ExecuteReader ExecuteScalar exists exit expand expect extend extensions extensions_mut fail False Fatal
Fatalf fetch Field field fields file fill filter filter_map finalize finally find find_all find_index findAll
findall finish First first FirstOrDefault flat flat_map flatMap flatten Float Flush flush fmt focus fold for
for_each force_encoding forEach Format format formatted forward Fprint Fprintf Fprintln freeze from fromJSON
front frozen? func function future Get get get_mut get_or_insert_with getActualTypeArguments getAnnotation
getattr getAttribute getBytes getCanonicalName getClass GetConstructor getDeclaredFields getDeclaredMethods
getElementById getElementsByTagName GetField getGenericSuperclass GetHashCode getItem getLogger getMessage
GetMethod getModifiers GetName getName getOrDefault getOwnPropertyNames getParameterTypes GetProperty
getReturnType getSimpleName getString getTime GetType getType GetValue getValue getvalue GetValues glob group
group_by GroupBy groupBy groups grow gsub Handle handle HandleFunc handler has hash hashCode hasMoreElements
hasNext hasOwnProperty head Header header headers headers_mut height Helper hexdigest Host id ignore imag in
include? includes Index index IndexOf indexOf info Init init inject inner Insert insert insert_str
insertBefore inspect instance instance_eval instance_exec instance_methods instance_of? instance_variable_get
instance_variable_set instance_variables Int Interface intersection into into_inner into_iter Invoke invoke
is is_a? is_dir is_empty is_err is_file is_none is_ok is_some isAnnotationPresent isAssignableFrom IsDBNull
isdigit isdir isEmpty isfile isInstance isinstance IsNil isoformat IsValid item items iter iter_mut iterator
Join join json keep keep_if key key? keys keySet kill Kind kind kind_of? label last lastIndexOf lazy left Len
len length Less limit line lines link list Listen listen listener ljust Load load loads local locale locals
Lock lock Log log Logf lower lstrip main make MakeGenericMethod MakeGenericType map map! map_err mapped mark
Marshal MarshalJSON match matcher matches max max_by measure merge message meta Method method min min_by
mkdir model modify module module_eval move mutate Name name names nativeElement New new newInstance Next next
next_back nextElement nextInt nextLine NextResult Nil nil? node nodes NoError none? normalize not NotEqual
notify NotNil Now now nth null number NumField of off offset ok ok_or on once only Open open OpenAsync
operator option options or or_else or_insert or_insert_with order OrderBy ordinal out output override pack
padEnd padStart Panics param params parent Parse parse parser part partition pass patch Path path pause peek
pending ping pipe poll pop popitem popleft port position post postMessage pow prefix prepend prev
preventDefault Print print Printf printf Println println printStackTrace process promise prop property props
public_send pull push push_back push_str put putAll putIfAbsent puts Query query querySelector
querySelectorAll queue quit quote raise random range raw Read read read_line read_text read_to_string readAll
ReadAsync readline readlines real receive record Recv reduce ref refresh regex register reject release reload
Remove remove remove_prefix removeEventListener rename render repeat Replace replace replace_all replaceAll
reply report request require reserve Reset reset resize resolve respond_to? response rest result resume
retain retry return rev reverse reversed rewind right rjust RLock Rollback rollback root round row rows
rstrip Run run RUnlock save Scan scan schedule score search seek Select select Send send sendall serialize
Serve ServeHTTP session Set set setAccessible setAttribute setdefault setItem setName setTimeout setUp setup
SetValue setValue shape shift show shutdown sign signal Single SingleOrDefault size skip sleep slice some
sort sort_by sort_unstable sorted source spawn splice Split split splitlines Sprintf sprintf sqrt stack Start
start start_with? starts_with StartsWith startsWith startswith stat state Status status status_mut StatusCode
stderr stdin stdout step Stop stop Store store str stream String string stringify strip style Sub sub submit
subscribe subscription substr Substring substring sum sum_by super Swap swap swapcase switch symbol sync
synchronized tag tail take take_while tap target tearDown tell template test Text text then throw time
timeout title to to_a to_ary to_ascii_lowercase to_bytes to_c to_dict to_enum to_f to_h to_hash to_i to_int
to_json to_lowercase to_owned to_path to_proc to_r to_s to_set to_str to_string to_sym to_uppercase to_vec
ToArray toArray toBe ToDictionary toEqual toFixed toISOString toJSON token tokens ToList toList toLowerCase
toPrecision ToString toString total touch toUpperCase trace transaction transform translate trigger Trim trim
trim_end trim_start True truncate try try_from try_into TryGetValue tuple Type type types Uint unbind undo
union uniq unique Unix unlink Unlock unlock Unmarshal UnmarshalJSON unregister unshift unsubscribe unwrap
unwrap_or unwrap_or_default unwrap_or_else upcase update upper uri URL url use user valid valid_encoding?
validate Value value valueOf values verify version view visit Wait wait walk warn warning watch Where where
which width window with with_capacity with_context with_index wrap Write write write_all write_str write_text
writeHead writelines xpath yield zfill zip
""".split()
)

_MULTI_WORD = re.compile(r"[a-z0-9]_+[a-z0-9]|[a-z0-9][A-Z]")


def is_distinctive(name: str) -> bool:
    """Whether a method name alone identifies a method of this index rather than of a library.

    It does if it has several words and no library is known for it: the only candidate is then the target.
    """
    return name not in _COMMON and len(name) >= 6 and _MULTI_WORD.search(name) is not None
