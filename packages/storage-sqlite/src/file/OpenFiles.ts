/**
 * The database files that connections of this process have open. Closing any descriptor of a file releases all POSIX locks of
 * the process on it, also those of its connections: https://sqlite.org/howtocorrupt.html (2.2). So a descriptor of such a file
 * stays open until its last connection is closed.
 */
import { closeSync, fstatSync, openSync, statSync } from "node:fs"
import { FileReplaced } from "./FileReplaced.ts"

interface Entry {
  connections: number
  descriptor: number | undefined
}

const entries = new Map<string, Entry>()

const keyOf = ({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }) => `${dev} ${ino}`

export interface OpenFile {
  /** The absolute path, without symbolic links. */
  readonly path: string
  /** A descriptor for reading and writing. Do not close it. Throws if the path leads to another file now. */
  readonly descriptor: () => number
}

/** Counts a connection, until `release`. */
export const acquire = (path: string): OpenFile & { readonly release: () => void } => {
  const key = keyOf(statSync(path, { bigint: true }))
  const entry = entries.get(key) ?? { connections: 0, descriptor: undefined }
  entries.set(key, entry)
  entry.connections++
  return {
    path,
    descriptor: () => (entry.descriptor ??= open(path, key)),
    release: () => {
      if (--entry.connections > 0) return
      entries.delete(key)
      if (entry.descriptor !== undefined) closeSync(entry.descriptor)
    }
  }
}

const open = (path: string, key: string): number => {
  const descriptor = openSync(path, "r+")
  if (keyOf(fstatSync(descriptor, { bigint: true })) === key) return descriptor
  closeSync(descriptor)
  throw new FileReplaced(`${path} was replaced while it was open`)
}
