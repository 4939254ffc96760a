import { FingerprintId, RegisteredFingerprint } from "@tachograph/core/domain/Fingerprint"
import * as Schema from "effect/Schema"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import * as Cursor from "../Cursor.ts"
import { FingerprintNotFound, bodyErrors } from "../Errors.ts"
import { optional } from "../Json.ts"
import * as Page from "../Page.ts"
import { snakeKeys } from "../WireNames.ts"

const optionalString = optional(Schema.String)

export const CreateFingerprint = Schema.Struct({
  language: Schema.String,
  language_version: Schema.String,
  system: Schema.String,
  provider1_sdk_version: optionalString,
  provider2_sdk_version: optionalString,
  provider3_sdk_version: optionalString,
  service_sdk_version: optionalString,
  all_packages: optional(Schema.Record(Schema.String, Schema.String)),
  git_repository_url: optionalString,
  git_branch: optionalString,
  git_commit_hash: optionalString,
  git_commit_date: optionalString,
  // The vendors' names of the versions above. If both are sent, the neutral name wins.
  openai_sdk_version: optionalString,
  anthropic_sdk_version: optionalString,
  gemini_sdk_version: optionalString,
  google_sdk_version: optionalString,
  tachograph_sdk_version: optionalString
})

export const FingerprintCreated = Schema.Struct({ fingerprint_id: FingerprintId }).annotate({
  identifier: "FingerprintCreated"
})

export const FingerprintOnWire = RegisteredFingerprint.pipe(
  Schema.encodeKeys({ ...snakeKeys(RegisteredFingerprint.fields), id: "fingerprint_id" })
)

export const cursor = Cursor.ofId<FingerprintId>()

export class Fingerprints extends HttpApiGroup.make("fingerprints").add(
  HttpApiEndpoint.put("createFingerprint", "/fingerprints", {
    payload: CreateFingerprint,
    success: FingerprintCreated,
    error: bodyErrors
  }).annotate(OpenApi.Summary, "Register a client's environment"),
  HttpApiEndpoint.get("listFingerprints", "/fingerprints", {
    query: Page.query(cursor),
    success: Page.of("FingerprintPage", "fingerprints", FingerprintOnWire, cursor)
  }).annotate(OpenApi.Summary, "List the registered environments in the order of their ids"),
  HttpApiEndpoint.get("getFingerprint", "/fingerprints/:fingerprint_id", {
    params: { fingerprint_id: FingerprintId },
    success: FingerprintOnWire,
    error: FingerprintNotFound
  }).annotate(OpenApi.Summary, "Read a registered environment")
) {}
