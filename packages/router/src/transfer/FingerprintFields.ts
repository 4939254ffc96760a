/** A fingerprint as clients send it. */
import type { Fingerprints } from "@tachograph/api"
import { Fingerprint } from "@tachograph/core"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"

type Body = typeof Fingerprints.CreateFingerprint.Type

/** The version under its neutral name, or under a vendor's. */
const sdkVersion = (body: Body, field: ProviderNames.SdkVersionField): string | null => {
  const aliases = Array.from(ProviderNames.sdkVersionAliases).flatMap(([alias, neutral]) =>
    neutral === field ? [alias as keyof Body] : []
  )
  for (const name of [field, ...aliases]) {
    const version = body[name]
    if (typeof version === "string") return version
  }
  return null
}

export const toFingerprint = (body: Body): Fingerprint =>
  new Fingerprint({
    language: body.language,
    languageVersion: body.language_version,
    system: body.system,
    provider1SdkVersion: sdkVersion(body, "provider1_sdk_version"),
    provider2SdkVersion: sdkVersion(body, "provider2_sdk_version"),
    provider3SdkVersion: sdkVersion(body, "provider3_sdk_version"),
    serviceSdkVersion: sdkVersion(body, "service_sdk_version"),
    allPackages: body.all_packages ?? null,
    gitRepositoryUrl: body.git_repository_url ?? null,
    gitBranch: body.git_branch ?? null,
    gitCommitHash: body.git_commit_hash ?? null,
    gitCommitDate: body.git_commit_date ?? null
  })
