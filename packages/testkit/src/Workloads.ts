/** Real agent runs, as request bodies. A clone does not contain them: they are used if they are present beside the repository. */
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const folder = fileURLToPath(new URL("../../../../shared/workloads", import.meta.url))

/** Stands for the fingerprint id in request bodies that are not sent yet. It has the length of a UUID. */
export const placeholder = "00000000-0000-0000-0000-000000000000"

/** Whether the real workloads are there. */
export const areAvailable = existsSync(folder)

const lineFeed = 0x0a

const linesOf = (bytes: Buffer): ReadonlyArray<Buffer> => {
  const lines: Array<Buffer> = []
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(lineFeed, start)
    lines.push(bytes.subarray(start, end))
    start = end + 1
  }
  return lines
}

/** The bodies of a workload, or the first `max` of them. */
export const expand = async (
  file: string,
  max: number | undefined = undefined,
  fingerprintId = placeholder
): Promise<ReadonlyArray<Buffer>> => {
  const limit = max === undefined ? [] : [String(max)]
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(folder, "expand.mjs"), join(folder, file), fingerprintId, ...limit],
    { encoding: "buffer", maxBuffer: 2 ** 30 }
  )
  return linesOf(stdout)
}
