/** Helpers for tests that record calls. */
import { StorageSuite } from "@tachograph/testkit"
import { Effect } from "effect"
import { defaultProject } from "../src/domain/Project.ts"
import { Recorder } from "../src/Recorder.ts"
import type { Storage } from "../src/Storage.ts"

const { Calls } = StorageSuite

export type Service = Storage["Service"]
export type Call = StorageSuite.Calls.Call

export const callsOf = (session: string, count: number) => Calls.take(Calls.calls(session, ["alice", "bob"], 1), count)

/** Runs `body` with a recorder over a storage, and closes the recorder. */
export const recording = <A, E>(storage: Service, body: (recorder: Recorder["Service"]) => Effect.Effect<A, E>) =>
  Effect.andThen(
    Calls.putFingerprint(storage, defaultProject),
    Effect.provide(Effect.flatMap(Recorder, body), Calls.recorderOver(storage))
  )
