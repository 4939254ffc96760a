import { CurrentProject, defaultProject, EventId, Recorder, Storage, Throttle, Verifier } from "@tachograph/core"
import { Effect, Layer, ManagedRuntime } from "effect"
import * as Databases from "../harness/Databases.ts"
import * as Recording from "../harness/Recording.ts"
import * as Workload from "../harness/Workload.ts"

const fingerprintId = await Recording.fingerprintId()
const workload =
  process.argv[2] === undefined
    ? await Workload.codingRun(fingerprintId)
    : await Workload.read(process.argv[2], fingerprintId)
const database = process.argv[3] ? Databases.postgres(process.argv[3]) : Databases.sqlite()
const ids = await Recording.recordAll(database.storage, workload.bodies)
const runtime = ManagedRuntime.make(Recorder.layer.pipe(Layer.provideMerge(database.storage)))
for (let round = 0; round < 3; round++) {
  const a = performance.now()
  await runtime.runPromise(
    Effect.gen(function* () {
      const recorder = yield* Recorder
      for (const id of ids) yield* recorder.getEvent(EventId.make(id))
    }).pipe(Effect.provideService(CurrentProject, defaultProject))
  )
  const b = performance.now()
  const counts = new Verifier.Counts()
  await runtime.runPromise(
    Effect.gen(function* () {
      yield* Verifier.verify(yield* Storage, {
        projects: [defaultProject],
        throttle: Throttle.unthrottled,
        counts,
        report: (finding) => Effect.sync(() => console.log(finding))
      })
    })
  )
  const c = performance.now()
  console.log(
    `read ${(b - a).toFixed(0)} ms, verify ${(c - b).toFixed(0)} ms, ${((c - b) / (b - a)).toFixed(2)}`,
    JSON.stringify(counts),
    process.memoryUsage().rss / 1e6
  )
}
await runtime.dispose()
await database.remove()
