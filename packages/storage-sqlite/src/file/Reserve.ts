/**
 * A file beside the database that keeps room for erasing: on a full disk nothing can be erased, since what erases is written to the log
 * first. It is deleted then, and made again after the next scrub, which has emptied the log.
 */
import { existsSync, rmSync } from "node:fs"
import { statfs, writeFile } from "node:fs/promises"
import { dirname } from "node:path"

/** As much as the log of one step of an erasure may take. */
const maxBytes = 8 * 1024 * 1024
/** Its share of what is free, on a small disk. */
const share = 1 / 4

const pathOf = (path: string): string => `${path}-reserve`

/** Makes the reserve, if there is none and there is room for it. */
export const make = async (path: string): Promise<void> => {
  const reserve = pathOf(path)
  try {
    if (existsSync(reserve)) return
    const { bavail, bsize } = await statfs(dirname(path))
    const zeros = Buffer.alloc(Math.min(maxBytes, Math.floor(bavail * bsize * share)))
    await writeFile(reserve, zeros, { flag: "wx", mode: 0o600, flush: true })
  } catch (error) {
    // Without room for it nothing else may fail. Another process may have made it meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") release(path)
  }
}

/** Gives the room back, as far as the file can be removed: what needs it says by itself that the disk is full. */
export const release = (path: string): void => {
  try {
    rmSync(pathOf(path), { force: true })
  } catch {
    // The folder cannot be written.
  }
}
