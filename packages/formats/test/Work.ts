/** Counts the work of accumulators: how often each block of the package's code runs, in all. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"

/** Runs in a process of its own, whose code is never optimised, because optimised code is not counted. */
const script = `
import { Session } from "node:inspector/promises"
const { module, pieces, counts } = JSON.parse(process.argv[1])
const { accumulator } = await import(module)
const session = new Session()
session.connect()
await session.post("Profiler.enable")
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true })
const bytes = pieces.map((piece) => new TextEncoder().encode(piece))
for (const count of counts) {
  const stream = accumulator()
  for (let index = 0; index < count; index++) stream.push(bytes[index % bytes.length])
  stream.end()
  const { result } = await session.post("Profiler.takePreciseCoverage")
  const scripts = result.filter(({ url }) => url.includes("packages/formats/src"))
  const ranges = scripts.flatMap(({ functions }) => functions.flatMap((each) => each.ranges))
  console.log(ranges.reduce((total, range) => total + range.count, 0))
}
`

/** The work for streams of each number of pieces in `counts`. `module` is the name of a file of \`src\` that exports an accumulator. */
export const countWork = async (
  module: string,
  pieces: ReadonlyArray<string>,
  counts: ReadonlyArray<number>
): Promise<ReadonlyArray<number>> => {
  const work = { module: new URL(`../src/${module}`, import.meta.url).href, pieces, counts }
  const flags = ["--no-opt", "--no-sparkplug", "--no-maglev", "--input-type=module", "--eval", script]
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, JSON.stringify(work)])
  return stdout.trim().split("\n").map(Number)
}
