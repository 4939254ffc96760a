/** This process, and what the machine gives to one like it. */
import * as Effect from "effect/Effect"
import { accessSync, constants, readdirSync, readFileSync, statfsSync } from "node:fs"
import { tmpdir, totalmem } from "node:os"
import packageJson from "../../package.json" with { type: "json" }
import * as Bytes from "../terminal/Bytes.ts"
import * as Figures from "../terminal/Figures.ts"
import { type Check, ok, problem, warning } from "./Check.ts"

/** The versions of Node that the packages are for. */
const oldestNode = packageJson.engines.node.replace(">=", "")

const isAtLeast = (version: string, least: string): boolean =>
  version.localeCompare(least, "en", { numeric: true }) >= 0

const version: Check = {
  name: "version",
  look: Effect.sync(() => {
    const { arch, platform, versions } = process
    const says = `Tachograph ${packageJson.version}, Node ${versions.node}, ${platform} ${arch}`
    if (isAtLeast(versions.node, oldestNode)) return ok(says)
    return problem(says, `Node ${oldestNode} or newer is needed`, "server.md")
  })
}

/** What a server opens beside its connections: files, threads, the storage, the log. */
const ownHandles = 64

/** Node raises the soft limit to the hard one when it starts, so this is what a server has. */
const handleLimit = (): number | undefined => {
  const [, text] = /^Max open files\s+(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? []
  return text === undefined || text === "unlimited" ? undefined : Number(text)
}

/** With the proxy each connection may have one to a provider. */
const handles = (maxConnections: number, proxy: boolean): Check => ({
  name: "handles",
  look: Effect.sync(() => {
    const needed = maxConnections * (proxy ? 2 : 1) + ownHandles
    const forThem = `${Figures.integer(maxConnections)} connections need ${Figures.integer(needed)}`
    let limit: number | undefined
    try {
      limit = handleLimit()
    } catch {
      return ok(`${forThem}; this system does not say how many may be open`)
    }
    if (limit === undefined) return ok(`any number may be open; ${forThem}`)
    const says = `${Figures.integer(limit)} may be open, ${readdirSync("/proc/self/fd").length} are; ${forThem}`
    if (limit >= needed) return ok(says)
    const fewer = Math.max(1, Math.floor((limit - ownHandles) / (proxy ? 2 : 1)))
    const mend = `raise the limit (LimitNOFILE=${needed} of systemd, ulimit -n ${needed}), or serve with --max-connections ${fewer}`
    return problem(says, mend, "operate.md#connections-and-file-handles")
  })
})

/** Below this (bytes) a server with its default limits may be ended by the system: operate.md has the figures. */
const enoughMemory = 768 * 1024 ** 2

const memory: Check = {
  name: "memory",
  look: Effect.sync(() => {
    const machine = totalmem()
    const constrained = process.constrainedMemory()
    const limit = constrained > 0 && constrained < machine ? constrained : machine
    const of = limit === machine ? "the machine has" : "this process may have"
    const says = `${of} ${Bytes.format(limit)}, ${Bytes.format(process.availableMemory())} are free`
    if (limit >= enoughMemory) return ok(says)
    const mend = `give it ${Bytes.format(enoughMemory)}, or serve with a smaller --session-memory, --max-body and --proxy-memory`
    return warning(says, mend, "operate.md#memory")
  })
}

const temporary: Check = {
  name: "temporary folder",
  look: Effect.sync(() => {
    const folder = tmpdir()
    try {
      accessSync(folder, constants.W_OK)
      const { bavail, bsize } = statfsSync(folder)
      return ok(`${folder}, ${Bytes.format(bavail * bsize)} are free`)
    } catch (error) {
      const mend = "set TMPDIR to a folder that can be written: SQLite uses it for large sorts"
      return warning(`${folder} cannot be written (${(error as NodeJS.ErrnoException).code})`, mend, "operate.md#disk")
    }
  })
}

export const of = (maxConnections: number, proxy: boolean): ReadonlyArray<Check> => [
  version,
  handles(maxConnections, proxy),
  memory,
  temporary
]
