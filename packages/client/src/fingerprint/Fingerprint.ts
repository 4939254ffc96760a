/** The environment of the application, which the recorder keeps once. */
import { builtin, processOf } from "../platform/Builtins.ts"

/** The body of Create Fingerprint. */
export interface FingerprintFields {
  readonly language: string
  readonly language_version: string
  readonly system: string
  readonly provider1_sdk_version?: string | undefined
  readonly provider2_sdk_version?: string | undefined
  readonly provider3_sdk_version?: string | undefined
  readonly service_sdk_version?: string | undefined
  readonly all_packages?: Readonly<Record<string, string>> | undefined
  readonly git_repository_url?: string | undefined
  readonly git_branch?: string | undefined
  readonly git_commit_hash?: string | undefined
  readonly git_commit_date?: string | undefined
}

export type PackageScope = "direct" | "all" | "none"

/** What the runtime says of itself. */
export const ofRuntime = (): Pick<FingerprintFields, "language" | "language_version" | "system"> => {
  const versions: Readonly<Record<string, string | undefined>> = processOf()?.versions ?? {}
  const os = builtin("os")
  const runtime = ["bun", "deno", "node"].find((name) => versions[name] !== undefined)
  return {
    language: "javascript",
    language_version: runtime === undefined ? "unknown" : `${runtime} ${versions[runtime]}`,
    system:
      os === undefined
        ? ((globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent ?? "unknown")
        : `${os.platform()} ${os.release()} ${os.arch()}`
  }
}
