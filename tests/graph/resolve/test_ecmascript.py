"""Receivers and names of JavaScript and TypeScript: what types, literals and modules decide."""

from __future__ import annotations

import pytest

from graph.resolve.world import world

ROOM = (
    "export class Room {\n  closeDoor() {}\n  open(): Room { return this; }\n  get() {}\n}\n"
    "export class Yard {\n  closeDoor() {}\n  open() {}\n  get() {}\n}\n"
    "export function makeRoom(): Room { return new Room(); }\n"
    "export async function loadRoom(): Promise<Room> { return new Room(); }\n"
)
IMPORTS = "import { Room, Yard, makeRoom, loadRoom } from './room';\nimport { Outside } from 'outside';\n"

# The code, and the symbols of `room.ts` that its function or method `use` calls for certain.
RECEIVERS = {
    "readonly parameter property of a class with an outside base": (
        "class A extends Outside {\n  constructor(readonly room: Room) { super(); }\n"
        "  use() { this.room.closeDoor(); }\n}\n",
        "Room.closeDoor",
    ),
    "field with a type": (
        "class A extends Outside {\n  readonly room: Room;\n  other!: Yard | null;\n"
        "  use() { this.room.get(); this.other!.open(); }\n}\n",
        "Room.get Yard.open",
    ),
    "field assigned in the constructor": (
        "class A {\n  constructor(room: Room) { this.room = room; this.yard = new Yard(); }\n"
        "  use() { this.room.get(); this.yard.open(); }\n}\n",
        "Room.get Yard.open",
    ),
    "field with a value": ("class A {\n  room = makeRoom();\n  use() { this.room.get(); }\n}\n", "Room.get"),
    "parameter": ("function use(room: Room) { room.get(); }\n", "Room.get"),
    "destructured parameter": (
        "interface Options { room: Room; yard?: Yard }\n"
        "function use({ room, yard: y }: Options) { room.get(); y.open(); }\n",
        "Room.get Yard.open",
    ),
    "field of an interface": (
        "interface Options { readonly room: Room }\nfunction use(o: Options) { o.room.get(); }\n",
        "Room.get",
    ),
    "field of an object type": (
        "type Options = { room: Room };\nfunction use(o: Options) { o.room.get(); }\n",
        "Room.get",
    ),
    "as": ("function use(x) { const y = x as Room; y.get(); (x as Yard).open(); }\n", "Room.get Yard.open"),
    "new": ("function use() { const x = new Room(); x.get(); new Yard().open(); }\n", "Room.get Yard.open"),
    "return type": ("function use() { makeRoom().open().get(); }\n", "Room.get Room.open makeRoom"),
    "promise": (
        "async function use() { const x = await loadRoom(); x.get(); (await loadRoom()).open(); }\n",
        "Room.get Room.open loadRoom",
    ),
    "then": ("function use() { loadRoom().then((room) => room.get()); }\n", "Room.get loadRoom"),
    "result without a type": (
        "function build(n) { if (n) { return null; } const r = new Room(); return r; }\n"
        "const short = () => new Yard();\n"
        "function use() { build(1).get(); short().open(); }\n",
        "Room.get Yard.open",
    ),
    "result of a callback is no result": (
        "function build(xs) { xs.map((x) => { return new Room(); }); return new Yard(); }\n"
        "function use() { build(1).open(); }\n",
        "Yard.open",
    ),
    "array elements": (
        "function use(rooms: Room[], yards: ReadonlyArray<Yard>) {\n  rooms[0].get();\n"
        "  for (const y of yards) { y.open(); }\n}\n",
        "Room.get Yard.open",
    ),
    "callbacks of arrays": (
        "function use(rooms: Room[]) {\n  rooms.forEach((r) => r.get());\n"
        "  rooms.filter(Boolean).map((q) => { q.open(); });\n}\n",
        "Room.get Room.open",
    ),
    "map": (
        "class A {\n  private rooms = new Map<string, Room>();\n  yards: Map<string, Yard>;\n"
        "  use() { this.rooms.get('a')!.open(); for (const y of this.yards.values()) y.open(); }\n}\n",
        "Room.open Yard.open",
    ),
    "instanceof": (
        "function use(x) {\n  if (x instanceof Room) {\n    x.get();\n  }\n"
        "  if (!(x instanceof Yard)) return;\n  x.open();\n}\n",
        "Room.get Yard.open",
    ),
    "bound of a type parameter": ("function use<T extends Room>(x: T) { x.get(); }\n", "Room.get"),
    "generic class": (
        "class Box<T> {\n  item: T;\n  pick(): T { return this.item; }\n}\n"
        "function use(b: Box<Room>) { b.pick().get(); b.item.open(); }\n",
        "Room.get Room.open",
    ),
    "getter": ("class A {\n  get room(): Room { return x; }\n  use() { this.room.get(); }\n}\n", "Room.get"),
    "arrow function as a field": (
        "class A {\n  constructor(private room: Room) {}\n  use = () => { this.room.get(); };\n}\n",
        "Room.get",
    ),
    "object of functions": (
        "const table = { build: makeRoom, yard: () => new Yard(), makeRoom };\n"
        "function use() { table.build().get(); table.makeRoom(); }\n",
        "Room.get makeRoom",
    ),
    "factory of an object": (
        "function create() {\n  function room() { return new Room(); }\n"
        "  return { room, yard() { return new Yard(); } };\n}\n"
        "function use() { create().room().get(); const c = create(); c.yard().open(); }\n",
        "Room.get Yard.open",
    ),
    "conditional": ("function use(n) { const x = n ? new Room() : null; x.get(); }\n", "Room.get"),
    "class as a value": ("function use(kind: typeof Room) { new kind().get(); }\n", "Room.get"),
    "function type": ("function use(make: () => Room) { make().get(); }\n", "Room.get"),
    "module-level singleton": (
        "export const ROOM = new Room();\nfunction use() { ROOM.get(); }\n",
        "Room.get",
    ),
    "type arguments inside a result": (
        "class Pair<T> {\n  first(): T {}\n}\nclass Box<T> {\n  wrap(): Pair<T> {}\n}\n"
        "function use(b: Box<Room>) { b.wrap().first().get(); }\n",
        "Room.get",
    ),
    "overloads with different results": (
        "function pick(a: string): Room;\nfunction pick(a: number): Other;\nfunction pick(a: any): any {}\n"
        "class Other {}\nfunction use() { pick('a').get(); }\n",
        "Room.get",
    ),
    "conditional type": (
        "function pick<T>(x: T): T extends (infer U)[] ? Room : Other<T> {}\nclass Other<T> {}\n"
        "function use() { pick('a').get(); }\n",
        "Room.get",
    ),
    "variable with the name of an interface": (
        "interface Kind<T> { make(): T }\ninterface Kit { size: number }\nconst Kit: Kind<Room> = load();\n"
        "function use() { Kit.make().get(); }\n",
        "Room.get",
    ),
    "parameters of a callback": (
        "function each(n: number, f: (room: Room, yard?: Yard) => void) {}\n"
        "function use() { each(1, (r, y) => { r.get(); y.open(); }); }\n",
        "Room.get Yard.open",
    ),
    "parameters of a callback by the type of the variable, or type arguments": (
        "interface Kind<T> { init(x: T): void }\n"
        "function kind<T>(name: string, f: (x: T) => void): Kind<T> {}\n"
        "function use() {\n  const a: Kind<Room> = kind('a', (x) => x.get());\n"
        "  kind<Yard>('b', (y) => y.open());\n}\n",
        "Room.get Yard.open",
    ),
    "parameters of a callback of a constructor": (
        "class A {\n  constructor(f: (room: Room) => void) {}\n}\n"
        "function use() { new A((r) => { r.get(); }); }\n",
        "Room.get",
    ),
    "private fields": (
        "class A {\n  #room: Room;\n  #yard = new Yard();\n  #load(): Room {}\n"
        "  use() { this.#room.get(); this.#yard.open(); this.#load().open(); }\n}\n",
        "Room.get Room.open Yard.open",
    ),
    "variables of blocks": (
        "function use() {\n  on('a', () => {\n    const x = new Room();\n    x.get();\n  });\n"
        "  on('b', () => {\n    const x = new Yard();\n    x.open();\n  });\n}\n",
        "Room.get Yard.open",
    ),
    "type of a field before what is assigned to it": (
        "class Chamber extends Room {\n  get() {}\n}\n"
        "class A {\n  room: Room;\n  constructor() { this.room = new Chamber(); }\n"
        "  use() { this.room.get(); }\n}\n",
        "Room.get",
    ),
    "type arguments after await": (
        "class Box {\n  load<T>(): Promise<T> {}\n  own(): Promise<Room> {}\n}\n"
        "async function use() { const x = await loadRoom<{ a: [B] }>('a'); x.get(); }\n",
        "Room.get loadRoom",
    ),
    "call of what is not null": ("function use() { makeRoom!(); }\n", "makeRoom"),
    "tagged template": (
        "function tag(texts): Room {}\nfunction use(a) { tag`x ${a ? `y` : ''} z`.get(); }\n",
        "Room.get",
    ),
    "type alias with type arguments": (
        "type NotNull<T> = T & { _: { notNull: true } };\n"
        "type Without<T, Dynamic> = Dynamic extends true ? T : Omit<T, 'open'>;\n"
        "class Box extends Room {\n  required(): NotNull<this> {}\n  where(): Without<this, true> {}\n}\n"
        "function use(b: Box) { b.required().get(); b.where().required().closeDoor(); }\n",
        "Room.closeDoor Room.get",
    ),
    "computed type": (
        "type Kind<T> = (T & { kind: 'a' })['type'];\nfunction use(x: Kind<Yard>) { x.closeDoor(); }\n",
        "",
    ),
    "object that can be called": (
        "interface Maker<T> {\n  <A extends string>(a: A): T\n\n  // with two\n"
        "  <A extends string, B>(a: A, b: B): T\n  size: number\n}\n"
        "class A { make!: Maker<Room>; }\nfunction use(a: A) { a.make('x').get(); }\n",
        "Room.get",
    ),
}


@pytest.mark.parametrize("name", RECEIVERS)
def test_receivers(tmp_path, name):
    code, expected = RECEIVERS[name]
    with world(tmp_path, {"room.ts": ROOM, "use.ts": IMPORTS + code}) as graph:
        targets = {
            target.removeprefix("room.ts:")
            for _, source, target, *_, confidence, _ in graph.named_edges("calls")
            if source.endswith("use") and target.startswith("room.ts") and confidence == "resolved"
        }
        assert targets - {"Room", "Yard"} == set(expected.split())


MODULES = {
    "re-exports twice, and barrels": (
        {
            "src/deep/room.ts": "export function open() {}\nexport default class Room { shut() {} }\n",
            "src/deep/index.ts": "export * from './room';\nexport { default as Room } from './room';\n",
            "src/index.ts": "export * from './deep';\nexport * as deep from './deep/index.js';\n",
            "main.ts": "import { open, Room, deep } from './src';\n"
            "function use(r: Room) { open(); r.shut(); deep.open(); }\n",
        },
        {"main.ts:use -> src/deep/room.ts:open", "main.ts:use -> src/deep/room.ts:Room.shut"},
    ),
    "paths of tsconfig": (
        {
            "tsconfig.json": '{\n  // where names lead\n  "compilerOptions": {\n    "baseUrl": "./app",\n'
            '    "paths": { "#lib/*": ["lib/*"], "tools": ["./kit/tools.ts"], },\n  },\n}\n',
            "app/lib/room.ts": "export function open() {}\n",
            "app/kit/tools.ts": "export function mend() {}\n",
            "app/plain.ts": "export function plain() {}\n",
            "app/main/use.ts": "import { open } from '#lib/room';\nimport { mend } from 'tools';\n"
            "import { plain } from 'plain';\nfunction use() { open(); mend(); plain(); }\n",
        },
        {
            "app/main/use.ts:use -> app/lib/room.ts:open",
            "app/main/use.ts:use -> app/kit/tools.ts:mend",
            "app/main/use.ts:use -> app/plain.ts:plain",
        },
    ),
    "paths of the tsconfig that another extends": (
        {
            "tsconfig.base.json": '{"compilerOptions": {"paths": {"~lib/*": ["libs/*"]}}}\n',
            "apps/web/tsconfig.json": '{"extends": "../../tsconfig.base.json", "compilerOptions": {}}\n',
            "libs/room.ts": "export function open() {}\n",
            "apps/web/use.ts": "import { open } from '~lib/room';\nfunction use() { open(); }\n",
        },
        {"apps/web/use.ts:use -> libs/room.ts:open"},
    ),
    "workspace packages": (
        {
            "packages/core/package.json": '{\n  "name": "@acme/core",\n  "main": "./dist/index.js"\n}\n',
            "packages/core/src/index.ts": "export { open } from './room';\n",
            "packages/core/src/room.ts": "export const open = () => 1;\n",
            "packages/odd/package.json": '{\n  "name": "odd",\n  "exports": {\n'
            '    ".": {"types": "./source/main.ts"},\n    "./extra": "./source/more.ts"\n  }\n}\n',
            "packages/odd/source/main.ts": "export function odd() {}\n",
            "packages/odd/source/more.ts": "export function more() {}\n",
            "packages/app/src/use.ts": "import { open } from '@acme/core';\nimport { odd } from 'odd';\n"
            "import { more } from 'odd/extra';\nfunction use() { open(); odd(); more(); }\n",
        },
        {
            "packages/app/src/use.ts:use -> packages/core/src/room.ts:open",
            "packages/app/src/use.ts:use -> packages/odd/source/main.ts:odd",
            "packages/app/src/use.ts:use -> packages/odd/source/more.ts:more",
        },
    ),
    "package whose manifest is not indexed": (
        {
            "packages/kit/src/index.ts": "export function mend() {}\n",
            "packages/kit/src/deep/index.ts": "export function dig() {}\n",
            "packages/own/src/index.ts": "export function own() {}\n",
            "packages/own/package.json": '{\n  "name": "@acme/own"\n}\n',
            "packages/app/use.ts": "import { mend } from 'kit';\nimport { dig } from 'kit/deep';\n"
            "import { own } from 'own';\nfunction use() { mend(); dig(); own(); }\n",
        },
        {
            "packages/app/use.ts:use -> packages/kit/src/index.ts:mend",
            "packages/app/use.ts:use -> packages/kit/src/deep/index.ts:dig",
        },
    ),
    "namespaces": (
        {
            "util.ts": "export namespace util {\n  export function tidy() {}\n"
            "  export function mend() { tidy(); }\n}\n",
            "use.ts": "import { util } from './util';\nfunction use() { util.tidy(); }\n",
        },
        {"util.ts:util.mend -> util.ts:util.tidy", "use.ts:use -> util.ts:util.tidy"},
    ),
    "default exports of values": (
        {
            "room.ts": "class Room { shut() {} }\nexport default new Room();\n",
            "use.ts": "import room from './room';\nfunction use() { room.shut(); }\n",
        },
        {"room.ts:room -> room.ts:Room", "use.ts:use -> room.ts:Room.shut"},
    ),
    "interface members are called through their interface": (
        {
            "store.ts": "export interface Store {\n  load(key: string): Item;\n"
            "  save: (item: Item) => void;\n}\n"
            "export class Item { show() {} }\nexport class Disk implements Store {\n"
            "  load(key: string) { return new Item(); }\n  save(item: Item) {}\n}\n",
            "use.ts": "import { Store } from './store';\n"
            "function use(s: Store) { s.load('a').show(); s.save(null); }\n",
        },
        {
            "store.ts:Disk.load -> store.ts:Item",
            "use.ts:use -> store.ts:Store.load",
            "use.ts:use -> store.ts:Item.show",
            "use.ts:use -> store.ts:Store.save",
        },
    ),
    "methods that are assigned to a parameter": (
        {
            "type.ts": "export interface Type {\n  check(): Type;\n}\nfunction run() {}\n"
            "export const Type = make('Type', (inst: Type) => {\n  inst.check = (x) => {\n    run();\n"
            "    return inst.check();\n  };\n});\nexport function string(): Type { return null; }\n",
            "use.ts": "import * as z from './type';\nfunction use() { z.string().check().check(); }\n",
        },
        {
            "type.ts:Type.inst.check -> type.ts:run",
            "type.ts:Type.inst.check -> type.ts:Type.check",
            "use.ts:use -> type.ts:string",
            "use.ts:use -> type.ts:Type.check",
        },
    ),
}

MODULES["objects by the type that declares them"] = (
    {
        "node.ts": "export interface Node { kind: string }\n"
        "type Factory = Readonly<{\n  create(): Node;\n  copy: (node: Node) => Node;\n}>;\n"
        "export const Node: Factory = freeze<Factory>({\n  create() {},\n  copy(node) {},\n});\n"
        "interface Jobs { run(): void }\nexport const jobs: Jobs = { run() {} };\n",
        "use.ts": "import { Node, jobs } from './node';\n"
        "function use() { Node.create(); Node.copy(null); jobs.run(); }\n",
    },
    {
        "use.ts:use -> node.ts:Factory.create",
        "use.ts:use -> node.ts:Factory.copy",
        "use.ts:use -> node.ts:Jobs.run",
    },
)


@pytest.mark.parametrize("name", MODULES)
def test_modules(tmp_path, name):
    files, expected = MODULES[name]
    with world(tmp_path, files) as graph:
        assert {call for call in graph.calls() if not call.endswith(")")} == expected


def test_functions_as_values(tmp_path):
    code = (
        "function work() {}\nfunction rest() {}\nconst table = { work, b: rest };\n"
        "class A {\n  done() {}\n  use(x) { x.on('a', work); x.then(this.done); }\n"
        "  @Get('/')\n  show() {}\n}\n"
    )
    with world(tmp_path, {"a.ts": code}) as graph:
        possible = {
            f"{source} -> {target}".replace("a.ts:", "")
            for _, source, target, *_, confidence, _ in graph.named_edges("calls")
            if confidence == "possible"
        }
        assert possible == {
            "table -> work", "table -> rest", "A.use -> work", "A.use -> A.done", "A -> A.show",
        }  # fmt: skip


def test_a_method_of_an_object_literal_is_no_bare_name(tmp_path):
    code = "function link() {\n  return (next) => {\n    next();\n    return { next() {} };\n  };\n}\n"
    with world(tmp_path, {"a.ts": code}) as graph:
        assert "a.ts:link -> a.ts:link.next" not in graph.calls()
