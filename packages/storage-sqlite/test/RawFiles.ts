/** What is in the files of a database, seen past SQLite. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync, readFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"

/** Bytes of a log that has only the page with the header of the database. */
export const logOfOnePage = 32 + 24 + 4_096

/** Every file beside the database whose name begins with its name: log, index, journal. */
const filesOf = (file: string): ReadonlyArray<string> =>
  readdirSync(dirname(file))
    .filter((name) => name.startsWith(basename(file)))
    .map((name) => join(dirname(file), name))

/** The marks, of 4 bytes or more, that occur in a file, with the names of the files. One pass over each file. */
export const foundIn = (file: string, marks: ReadonlyArray<string | Buffer>): ReadonlyArray<string> => {
  const byStart = Map.groupBy(
    marks.map((mark) => ({ mark, bytes: Buffer.from(mark) })),
    ({ bytes }) => bytes.readUInt32BE(0)
  )
  const isStart = new Uint8Array(0x1_0000)
  for (const start of byStart.keys()) isStart[start >>> 16] = 1
  return filesOf(file).flatMap((each) => {
    const found = new Set<string | Buffer>()
    const content = readFileSync(each)
    for (let at = 0; at + 4 <= content.length; at++) {
      if (isStart[(content[at]! << 8) | content[at + 1]!] === 0) continue
      for (const { bytes, mark } of byStart.get(content.readUInt32BE(at)) ?? []) {
        if (content.subarray(at, at + bytes.length).equals(bytes)) found.add(mark)
      }
    }
    return Array.from(found, (mark) => `${basename(each)}: ${typeof mark === "string" ? mark : mark.toString("hex")}`)
  })
}

/** The numbers of the free pages: https://sqlite.org/fileformat2.html#the_freelist */
export const freePages = (
  bytes: Buffer
): { readonly trunks: ReadonlyArray<number>; readonly leaves: ReadonlyArray<number> } => {
  const pageBytes = bytes.readUInt16BE(16)
  const trunks: Array<number> = []
  const leaves: Array<number> = []
  for (let trunk = bytes.readUInt32BE(32); trunk !== 0;) {
    trunks.push(trunk)
    const at = (trunk - 1) * pageBytes
    for (let n = 0; n < bytes.readUInt32BE(at + 4); n++) leaves.push(bytes.readUInt32BE(at + 8 + 4 * n))
    trunk = bytes.readUInt32BE(at)
  }
  return { trunks, leaves }
}

/** Waits until what was erased has been removed from the files. */
export const scrubbed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (;;) {
    const [row] = yield* sql<{ user_version: number }>`PRAGMA user_version`
    if (row!.user_version === 0) return
    yield* Effect.sleep(20)
  }
})
