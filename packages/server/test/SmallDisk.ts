/** A disk of 20 MiB, and a file that takes all of its room. */
import { execFileSync } from "node:child_process"
import { closeSync, openSync, rmSync, statSync, truncateSync, writeSync } from "node:fs"
import { join } from "node:path"
import { afterFile } from "../../../scripts/vitest/AfterFile.ts"
import { temporaryFolder } from "./TachographProcess.ts"

/** What the disk gives a file at a time. */
const pageBytes = 4096

/** A folder on a disk of its own. */
export const mount = (): string => {
  const folder = temporaryFolder()
  execFileSync("/bin/mount", ["-t", "tmpfs", "-o", "size=20M", "tmpfs", folder], { stdio: "pipe" })
  afterFile(() => execFileSync("/bin/umount", ["-l", folder], { stdio: "pipe" }))
  return folder
}

const fillerOf = (folder: string): string => join(folder, "filler")

/** Takes all room, to the last page: this disk keeps none for root. */
export const fill = (folder: string): void => {
  const descriptor = openSync(fillerOf(folder), "a")
  try {
    for (;;) writeSync(descriptor, Buffer.alloc(pageBytes))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error
  } finally {
    closeSync(descriptor)
  }
}

/** Gives some of the room back. */
export const giveBack = (folder: string, pages: number): void => {
  const filler = fillerOf(folder)
  truncateSync(filler, statSync(filler).size - pages * pageBytes)
}

/** Gives all of it back. */
export const empty = (folder: string): void => rmSync(fillerOf(folder))
