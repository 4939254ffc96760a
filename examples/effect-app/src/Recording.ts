/** Records calls of a model from inside the application: request and answer as the texts that went over the wire. */
import { CurrentProject, EventJson, Fingerprint, ModelFactsReader, Recorder, type SessionId } from "@tachograph/core"
import { Effect, Schema } from "effect"

interface Call {
  readonly session: SessionId
  /** JSON objects, as the provider was sent and answered them. */
  readonly request: string
  readonly answer: string
}

const api = "provider1-responses"

const runtime = Fingerprint.make({
  language: "typescript",
  languageVersion: process.versions.node,
  system: process.platform,
  provider1SdkVersion: null,
  provider2SdkVersion: null,
  provider3SdkVersion: null,
  serviceSdkVersion: null,
  allPackages: null,
  gitRepositoryUrl: null,
  gitBranch: null,
  gitCommitHash: null,
  gitCommitDate: null
})

const decodeObject = Schema.decodeEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

/** Succeeds when the call is kept. */
export const record = Effect.fn("record")(function* ({ answer, request, session }: Call) {
  const recorder = yield* Recorder
  const project = yield* CurrentProject
  // Each is an object of its own: what is no JSON could else become more than that in the text below.
  const facts = ModelFactsReader.read(api, yield* decodeObject(request), yield* decodeObject(answer))
  const text = `{"session":${JSON.stringify(session)},"properties":{"inputs":${request},"output":${answer}}}`
  const { payload } = EventJson.open(Buffer.from(text), (session) => recorder.beginningsOf(project, session))!
  const fingerprintId = yield* recorder.createFingerprint(runtime)
  return yield* recorder.createEvent({ api, fingerprintId, session, payload, facts })
})
