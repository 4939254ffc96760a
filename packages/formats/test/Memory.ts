/** Counts what accumulators allocate: copies of what came before, which no block of code shows, because the engine makes them. */
import { Session } from "node:inspector/promises"
import type { Accumulator } from "@tachograph/formats"

interface Node {
  readonly selfSize: number
  readonly children: ReadonlyArray<Node>
}

const sizeOf = ({ children, selfSize }: Node): number =>
  children.reduce((total, child) => total + sizeOf(child), selfSize)

/** How many bytes `work` allocates, with those that it lets go of. */
const allocatedBy = async (work: () => void): Promise<number> => {
  const session = new Session()
  session.connect()
  await session.post("HeapProfiler.startSampling", {
    samplingInterval: 1024,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true
  })
  work()
  const { profile } = await session.post("HeapProfiler.stopSampling")
  session.disconnect()
  return sizeOf(profile.head)
}

/** How many times as much is allocated for a stream as for another one. */
export const growthOfMemory = async <Chunk>(
  make: () => Accumulator<Chunk>,
  of: ReadonlyArray<Chunk>,
  from: ReadonlyArray<Chunk>
): Promise<number> => {
  const accumulate = (chunks: ReadonlyArray<Chunk>) => () => {
    const stream = make()
    for (const chunk of chunks) stream.push(chunk)
    stream.end()
  }
  // What the engine compiles is allocated in the first run.
  accumulate(of)()
  // What happens once in the process, and in one of the runs by chance, is not the stream's.
  const smallest = async (chunks: ReadonlyArray<Chunk>) =>
    Math.min(await allocatedBy(accumulate(chunks)), await allocatedBy(accumulate(chunks)))
  return (await smallest(of)) / (await smallest(from))
}
