/** The environment that a client runs in. Registered once and referenced by every event. */
import * as Schema from "effect/Schema"
import * as JsonText from "./JsonText.ts"
import { Uuid } from "./Uuid.ts"

export const FingerprintId = Uuid.pipe(Schema.brand("FingerprintId"))
export type FingerprintId = typeof FingerprintId.Type

export class Fingerprint extends Schema.Class<Fingerprint>("Fingerprint")({
  language: Schema.String,
  languageVersion: Schema.String,
  system: Schema.String,
  provider1SdkVersion: Schema.NullOr(Schema.String),
  provider2SdkVersion: Schema.NullOr(Schema.String),
  provider3SdkVersion: Schema.NullOr(Schema.String),
  serviceSdkVersion: Schema.NullOr(Schema.String),
  allPackages: Schema.NullOr(Schema.Record(Schema.String, Schema.String)),
  gitRepositoryUrl: Schema.NullOr(Schema.String),
  gitBranch: Schema.NullOr(Schema.String),
  gitCommitHash: Schema.NullOr(Schema.String),
  gitCommitDate: Schema.NullOr(Schema.String)
}) {}

/** A fingerprint as it was registered first. */
export class RegisteredFingerprint extends Schema.Class<RegisteredFingerprint>("RegisteredFingerprint")({
  id: FingerprintId,
  ...Fingerprint.fields,
  createdAt: Schema.DateTimeUtcFromString
}) {}

/** The text under which it is stored: the same for the same field values, whatever the order of the packages. */
export const toText = (fingerprint: Fingerprint): JsonText.JsonText => {
  const { allPackages, ...rest } = fingerprint
  const packages = allPackages && Object.entries(allPackages).sort(([a], [b]) => (a < b ? -1 : 1))
  return JsonText.unsafe(JSON.stringify({ ...rest, allPackages: packages }))
}

const Stored = Schema.fromJsonString(
  Schema.Struct({
    ...Fingerprint.fields,
    allPackages: Schema.NullOr(Schema.Array(Schema.Tuple([Schema.String, Schema.String])))
  })
)

const decodeText = Schema.decodeUnknownSync(Stored)

/** The fingerprint of a text that `toText` has written. Throws for any other. */
export const ofText = (text: string): Fingerprint => {
  const { allPackages, ...rest } = decodeText(text)
  return new Fingerprint({ ...rest, allPackages: allPackages && Object.fromEntries(allPackages) })
}
