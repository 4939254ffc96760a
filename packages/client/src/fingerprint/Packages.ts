/** The packages that an application has installed, from the `package.json` files on its disk. */
import { builtin, processOf } from "../platform/Builtins.ts"
import * as Limiter from "../platform/Limiter.ts"

/** `direct`: what the application's `package.json` names. `all`: what is installed beside them, too. */
export type PackageScope = "direct" | "all" | "none"

export type Versions = Readonly<Record<string, string>>

/** The SDKs that have fields of their own in a fingerprint. */
export const sdks = {
  provider1_sdk_version: "openai",
  provider2_sdk_version: "@anthropic-ai/sdk",
  provider3_sdk_version: "@google/genai",
  service_sdk_version: "@tachograph/client"
} as const

interface Manifest {
  readonly version?: unknown
  readonly dependencies?: Readonly<Record<string, unknown>>
  readonly optionalDependencies?: Readonly<Record<string, unknown>>
}

const modules = (from: string) => {
  const fs = builtin("fs")
  const path = builtin("path")
  if (fs === undefined || path === undefined) return undefined
  const read = async (file: string): Promise<Manifest | undefined> => {
    try {
      return JSON.parse(await fs.promises.readFile(file, "utf8")) as Manifest
    } catch {
      return undefined
    }
  }
  const list = (folder: string) => fs.promises.readdir(folder).catch(() => [])
  /** The folder and all above it. */
  const folders: Array<string> = []
  for (let folder = from; ; folder = path.dirname(folder)) {
    folders.push(folder)
    if (path.dirname(folder) === folder) break
  }
  /** As `import` finds it. */
  const versionOf = async (name: string): Promise<string | undefined> => {
    for (const folder of folders) {
      const manifest = await read(path.join(folder, "node_modules", name, "package.json"))
      if (manifest !== undefined) return typeof manifest.version === "string" ? manifest.version : undefined
    }
    return undefined
  }
  return { folders, join: path.join, list, read, versionOf }
}

/**
 * The folder of the program that runs. That of one which lies in `node_modules`, such as the command of a framework, is the folder that
 * it is installed for, or the working directory.
 */
export const applicationFolder = async (): Promise<string | undefined> => {
  const process = processOf()
  const program = process?.argv?.[1]
  const path = builtin("path")
  const fs = builtin("fs")
  if (program === undefined || path?.isAbsolute(program) !== true) return process?.cwd()
  const parts = path.dirname(program).split(path.sep)
  const at = parts.indexOf("node_modules")
  if (at === -1) return path.dirname(program)
  const above = parts.slice(0, at).join(path.sep) || path.sep
  // A command that is installed for all has no application above it.
  const isApplication = await fs?.promises.access(path.join(above, "package.json")).then(
    () => true,
    () => false
  )
  return isApplication === true ? above : process?.cwd()
}

/** How many files are read at once: threads and open files are the application's. */
const concurrency = 2

/** The versions of packages, by name. Packages that are not installed are left out. */
export const installed = async (from: string, scope: PackageScope): Promise<Versions> => {
  const found = modules(from)
  if (found === undefined) return {}
  const { folders, join, list, read, versionOf } = found
  const names = new Set<string>()
  for (const folder of scope === "none" ? [] : folders) {
    const manifest = await read(join(folder, "package.json"))
    if (manifest === undefined) continue
    for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) names.add(name)
    if (scope === "all") for (const name of await namesIn(join(folder, "node_modules"), list, join)) names.add(name)
    break
  }
  return versionsOf([...names].sort(), versionOf)
}

const namesIn = async (
  folder: string,
  list: (folder: string) => Promise<ReadonlyArray<string>>,
  join: (...parts: ReadonlyArray<string>) => string
): Promise<ReadonlyArray<string>> => {
  const names: Array<string> = []
  for (const name of await list(folder)) {
    if (name.startsWith("@")) for (const inner of await list(join(folder, name))) names.push(`${name}/${inner}`)
    else if (!name.startsWith(".")) names.push(name)
  }
  return names
}

const versionsOf = async (
  names: ReadonlyArray<string>,
  versionOf: (name: string) => Promise<string | undefined>
): Promise<Versions> => {
  const { run } = Limiter.make(concurrency)
  const versions = await Promise.all(names.map((name) => run(async () => [name, await versionOf(name)] as const)))
  return Object.fromEntries(versions.filter((entry): entry is readonly [string, string] => entry[1] !== undefined))
}

/** The versions of the SDKs, by the field of the fingerprint. */
export const sdkVersions = async (from: string): Promise<Partial<Record<keyof typeof sdks, string>>> => {
  const found = modules(from)
  if (found === undefined) return {}
  const byName = await versionsOf(Object.values(sdks), found.versionOf)
  return Object.fromEntries(
    Object.entries(sdks).flatMap(([field, name]) => (byName[name] === undefined ? [] : [[field, byName[name]]]))
  )
}
