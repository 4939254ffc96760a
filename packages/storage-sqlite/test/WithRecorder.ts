/** Runs the body with a recorder over a file, in which a fingerprint is stored. */
import { CurrentProject, Recorder, Storage } from "@tachograph/core"
import { StorageSuite } from "@tachograph/testkit"
import { Effect, Layer } from "effect"
import { SqliteStorage } from "../src/index.ts"

const { Calls } = StorageSuite

export const withRecorder = <A, E>(
  file: string,
  body: (recorder: Recorder["Service"]) => Effect.Effect<A, E, Storage>
) =>
  Effect.runPromise(
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* Calls.putFingerprint(storage, yield* CurrentProject)
      return yield* Effect.provide(Effect.flatMap(Recorder, body), Calls.recorderOver(storage))
    }).pipe(Effect.provide(Layer.fresh(SqliteStorage.layer({ filename: file }))))
  )
