import { Recorder } from "@tachograph/core"
import { Effect } from "effect"
import * as Operation from "./Operation.ts"

export const operations = Effect.map(Recorder, (recorder) =>
  Operation.group("sessions", {
    eraseSession: ({ params }) => recorder.eraseSession(params.session)
  })
)
