/**
 * Who may write what a spool holds: the user of the process alone. What somebody else puts there would be sent in the name of the
 * application, and a link would be followed to any file that the application may read.
 */
import { type Builtins, processOf } from "../platform/Builtins.ts"

/** What Node says of a file. */
interface Stats {
  readonly mode: number
  readonly uid: number
  readonly isSymbolicLink: () => boolean
}

/** Bits of a mode: the group, or all others, may write. */
const writableByOthers = 0o022

/** Undefined where files have no such owners, as in Windows, or where the process may not ask. */
const userOf = (): number | undefined => {
  try {
    return processOf()?.geteuid?.()
  } catch {
    // Deno asks for a permission.
    return undefined
  }
}

/** What lets others write a file or a folder, in words. Undefined where nothing does. */
export const strangersIn = ({ mode, uid }: Pick<Stats, "mode" | "uid">): string | undefined => {
  const user = userOf()
  if (user === undefined) return undefined
  if (uid !== user) return `it belongs to the user ${uid}, and this process runs as ${user}`
  return (mode & writableByOthers) === 0 ? undefined : `its mode is ${(mode & 0o7777).toString(8)}`
}

/** Undefined where there is nothing, or it cannot be looked at: then nothing can be written there either. */
const look = (stat: (path: string) => Stats, path: string): Stats | undefined => {
  try {
    return stat(path)
  } catch {
    return undefined
  }
}

/** The mode of a link says nothing, and what root has put there is the system's. */
const strangersOfLink = ({ uid }: Stats): string | undefined => (uid === 0 ? undefined : strangersIn({ uid, mode: 0 }))

/** Throws a `TypeError` where others may write in the folder, or have put a link in its place. It need not exist. */
export const checkFolder = (fs: Builtins["fs"], folder: string): void => {
  const itself = look(fs.lstatSync, folder)
  const linked = look(fs.statSync, folder)
  const found = (itself?.isSymbolicLink() && strangersOfLink(itself)) || (linked && strangersIn(linked))
  if (found === undefined) return
  throw new TypeError(
    `spool: expected a folder in which only the user of this process may write, and of ${folder} ${found}. Name one that does not exist, such as a folder in it, which is then made so, or run chown and chmod 700`
  )
}
