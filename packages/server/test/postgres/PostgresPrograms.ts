/** The programs of a PostgreSQL that is installed on this machine, for what needs more of them than the server: dumps and base backups. */
import { execFile, execFileSync } from "node:child_process"
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { afterFile } from "../../../../scripts/vitest/AfterFile.ts"

const names = ["initdb", "pg_ctl", "postgres", "psql", "pg_dump", "pg_restore", "createdb", "vacuumdb", "pg_basebackup"]

/** Where Debian has them, the newest first. */
const debian = "/usr/lib/postgresql"
const versions = existsSync(debian) ? readdirSync(debian).toSorted((one, two) => Number(two) - Number(one)) : []

const folders = [...versions.map((version) => join(debian, version, "bin")), ...process.env["PATH"]!.split(delimiter)]

/** The folder of the programs; undefined if the machine has none. */
export const folder = folders.find((each) => names.every((name) => existsSync(join(each, name))))

export const title = folder === undefined ? " (left out: this machine has no pg_dump beside a PostgreSQL server)" : ""

const isRoot = process.getuid?.() === 0
const idOf = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }))
/** A server does not run as root. */
const owner = folder !== undefined && isRoot ? { uid: idOf("-u"), gid: idOf("-g") } : undefined

/** A new folder of the system's user that runs the server, removed after the test file. */
export const ownFolder = (): string => {
  // Not where the other tests have theirs: a socket's path is short.
  const path = mkdtempSync("/tmp/tachograph-programs-")
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid)
  afterFile(() => rmSync(path, { recursive: true, force: true, maxRetries: 10 }))
  return path
}

/** Runs commands of a shell as the system's user that runs the server, with the programs in its path. Rejects if one fails. */
export const shell = (commands: string, cwd: string) =>
  promisify(execFile)("bash", ["-euo", "pipefail", "-c", commands], {
    cwd,
    ...owner,
    env: { PATH: `${folder}${delimiter}${process.env["PATH"]}`, BASH_ENV: "", LC_ALL: "C" }
  })
