import { Fingerprints } from "@tachograph/api"
import { Recorder } from "@tachograph/core"
import * as Effect from "effect/Effect"
import { toFingerprint } from "../transfer/FingerprintFields.ts"
import * as Operation from "./Operation.ts"
import * as PageQuery from "./PageQuery.ts"

export const operations = Effect.map(Recorder, (recorder) =>
  Operation.group("fingerprints", {
    createFingerprint: ({ payload }) =>
      Effect.map(recorder.createFingerprint(toFingerprint(payload)), (fingerprint_id) => ({ fingerprint_id })),
    listFingerprints: ({ query }) =>
      Effect.map(recorder.listFingerprints(PageQuery.of(query, Fingerprints.cursor)), ({ next, rows }) => ({
        fingerprints: rows,
        next_cursor: Fingerprints.cursor.encode(next)
      })),
    getFingerprint: ({ params }) => recorder.getFingerprint(params.fingerprint_id)
  })
)
