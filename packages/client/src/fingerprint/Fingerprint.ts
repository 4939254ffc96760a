/** The environment of the application, which the recorder keeps once. */
import { builtin, processOf } from "../platform/Builtins.ts"
import * as Git from "./Git.ts"
import * as Packages from "./Packages.ts"

/** The body of Create Fingerprint. */
export interface FingerprintFields extends Git.Commit {
  readonly language: string
  readonly language_version: string
  readonly system: string
  readonly provider1_sdk_version?: string | undefined
  readonly provider2_sdk_version?: string | undefined
  readonly provider3_sdk_version?: string | undefined
  readonly service_sdk_version?: string | undefined
  readonly all_packages?: Readonly<Record<string, string>> | undefined
}

/** What may be refused, as by Deno without a permission. */
const readable = <A>(read: () => A): A | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** The system, such as `linux 6.8.0 x64`. */
const systemOf = (): string | undefined => {
  const os = builtin("os")
  if (os === undefined) return (globalThis as { navigator?: { userAgent?: string } }).navigator?.userAgent
  // Cloudflare's Workers have no release.
  const parts = [os.platform, os.release, os.arch].map((read) => readable(read) ?? "").filter((part) => part !== "")
  return parts.length === 0 ? undefined : parts.join(" ")
}

/** What the runtime says of itself. */
const ofRuntime = () => {
  const versions = readable(() => processOf()?.versions as Readonly<Record<string, string | undefined>> | undefined)
  const runtime = ["bun", "deno", "node"].find((name) => versions?.[name] !== undefined)
  return {
    language: "javascript",
    language_version: runtime === undefined ? "unknown" : `${runtime} ${versions![runtime]}`,
    system: readable(systemOf) ?? "unknown"
  }
}

const ofApplication = async (scope: Packages.PackageScope) => {
  const folder = await Packages.applicationFolder()
  if (folder === undefined) return Git.ofVariables()
  const commit = Git.ofVariables() ?? (await Git.ofRepository(folder))
  const packages = await Packages.installed(folder, scope)
  return {
    ...(await Packages.sdkVersions(folder)),
    ...(Object.keys(packages).length === 0 ? {} : { all_packages: packages }),
    ...commit
  }
}

/** Everything that can be found. What cannot be read is left out. Never rejects. */
export const find = async (scope: Packages.PackageScope): Promise<FingerprintFields> => ({
  ...ofRuntime(),
  ...(await ofApplication(scope).catch(() => undefined))
})
