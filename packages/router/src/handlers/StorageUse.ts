import { StorageUse } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import * as Operation from "./Operation.ts"

export const operations = Effect.map(Recorder, (recorder) =>
  Operation.group("storage", {
    readStorage: ({ query }) => recorder.storageUsage(query.sessions ?? StorageUse.defaultSessions)
  })
)
