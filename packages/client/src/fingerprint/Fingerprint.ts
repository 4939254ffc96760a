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

/** What the runtime says of itself. */
const ofRuntime = () => {
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

/** Everything that can be found. What cannot be read is left out. */
export const find = async (scope: Packages.PackageScope): Promise<FingerprintFields> => {
  const runtime = ofRuntime()
  const folder = Packages.applicationFolder()
  if (folder === undefined) return { ...runtime, ...Git.ofVariables() }
  try {
    const commit = Git.ofVariables() ?? (await Git.ofRepository(folder))
    const packages = await Packages.installed(folder, scope)
    return {
      ...runtime,
      ...(await Packages.sdkVersions(folder)),
      ...(Object.keys(packages).length === 0 ? {} : { all_packages: packages }),
      ...commit
    }
  } catch {
    return runtime
  }
}
