import { isAbsolute } from "node:path";

/**
 * Return the command that is run, as `dowse.path` names it.
 *
 * A relative path would name a file of whatever folder is open, and a repository must not choose
 * what runs.
 */
export function serverCommand(path: string): string {
  const command = path.trim();
  if (!command) throw new Error("`dowse.path` is empty; name the command, e.g. dowse");
  if (/[\\/]/.test(command) && !isAbsolute(command)) {
    throw new Error(
      `\`dowse.path\` is ${command}; give an absolute path, or a name without slashes`,
    );
  }
  return command;
}
