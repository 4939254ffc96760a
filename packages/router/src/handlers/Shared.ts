import { Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { ReserveAnswer } from "../Engine.ts"
import * as ExactBytes from "../events/ExactBytes.ts"
import * as Operation from "./Operation.ts"

export const operations = Effect.map(Recorder, (recorder) =>
  Operation.group("shared", {
    getSharedText: Effect.fnUntraced(function* ({ exchange, params }) {
      const text = yield* recorder.getSharedText(params.sha256, yield* ReserveAnswer)
      return new Operation.Encoded(ExactBytes.toAnswer(text, exchange))
    })
  })
)
