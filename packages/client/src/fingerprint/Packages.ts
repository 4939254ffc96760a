/** The packages that an application has installed, from the `package.json` files on its disk. */
import { builtin, processOf } from "../platform/Builtins.ts"

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

/** The folder of the program that runs, or the working directory. */
export const applicationFolder = (): string | undefined => {
  const process = processOf()
  const program = process?.argv?.[1]
  try {
    const path = builtin("path")
    if (program !== undefined && path?.isAbsolute(program) === true) return path.dirname(program)
    return process?.cwd()
  } catch {
    return undefined
  }
}

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
  const entries = (await list(folder)).filter((name) => !name.startsWith("."))
  const nested = await Promise.all(
    entries.map(async (name) =>
      name.startsWith("@") ? (await list(join(folder, name))).map((inner) => `${name}/${inner}`) : [name]
    )
  )
  return nested.flat()
}

const versionsOf = async (
  names: ReadonlyArray<string>,
  versionOf: (name: string) => Promise<string | undefined>
): Promise<Versions> => {
  const versions = await Promise.all(names.map(async (name) => [name, await versionOf(name)] as const))
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
