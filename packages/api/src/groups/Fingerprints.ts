import { FingerprintId } from "@tachograph/core/domain/Fingerprint"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AllowedScopes, writing } from "../Authorization.ts"
import { bodyErrors } from "../Errors.ts"
import { optional } from "../Json.ts"

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

export class Fingerprints extends HttpApiGroup.make("fingerprints").add(
  HttpApiEndpoint.put("createFingerprint", "/fingerprints", {
    payload: CreateFingerprint,
    success: FingerprintCreated,
    error: bodyErrors
  })
    .annotate(AllowedScopes, writing)
    .annotate(OpenApi.Summary, "Register a client's environment")
) {}
