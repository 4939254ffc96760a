/** The environment that a client runs in. Registered once and referenced by every event. */
import { Schema } from "effect"
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
