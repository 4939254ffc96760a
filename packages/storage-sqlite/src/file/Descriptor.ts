/**
 * Reads a file through a descriptor that SQLite has open. One of our own could never be closed: closing any descriptor of a file
 * releases all locks of the process on it (https://sqlite.org/howtocorrupt.html, 2.2), also those of other threads.
 */
import { fstatSync, readdirSync, readSync } from "node:fs"

interface Identity {
  readonly dev: bigint
  readonly ino: bigint
}

const sizeOf = (descriptor: number, { dev, ino }: Identity): number | undefined => {
  try {
    const found = fstatSync(descriptor, { bigint: true })
    return found.ino === ino && found.dev === dev ? Number(found.size) : undefined
  } catch {
    return undefined
  }
}

/** The numbers of the descriptors of this process; none where the system does not say. */
const all = (): ReadonlyArray<number> => {
  try {
    return readdirSync("/dev/fd").map(Number)
  } catch {
    return []
  }
}

/** The size and the first bytes of a file; undefined where the process has no descriptor of it that can be found. */
export const reader = (identity: Identity, bytes: number) => {
  let descriptor = -1
  return (): { readonly size: number; readonly first: Buffer } | undefined => {
    let size = sizeOf(descriptor, identity)
    if (size === undefined) {
      // The connection whose descriptor it was has been closed.
      descriptor = all().find((each) => sizeOf(each, identity) !== undefined) ?? -1
      size = sizeOf(descriptor, identity)
      if (size === undefined) return undefined
    }
    const first = Buffer.allocUnsafe(bytes)
    return { size, first: first.subarray(0, readSync(descriptor, first, 0, bytes, 0)) }
  }
}
