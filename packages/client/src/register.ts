/**
 * `node --import @tachograph/client/register app.js` records every call that the application makes with `fetch`. It reads
 * TACHOGRAPH_URL, TACHOGRAPH_API_KEY, and, if they are set, TACHOGRAPH_AGENT, TACHOGRAPH_AGENT_VERSION, TACHOGRAPH_SESSION,
 * TACHOGRAPH_PERSON, TACHOGRAPH_SPOOL, TACHOGRAPH_EXIT_MS and TACHOGRAPH_REDACT.
 */
import { nearest } from "@tachograph/capture/Spelling"
import { builtin, variable, variables } from "./platform/Builtins.ts"
import * as Recorder from "./Recorder.ts"

const prefix = "TACHOGRAPH_"

const nameOf = (option: string): string => `${prefix}${option.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`

const given = (option: string): string | undefined => variable(nameOf(option))

const numberIn = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

/** The list of patterns in a file. Throws where it cannot be read: then nothing is recorded. */
const listIn = (file: string | undefined): string | undefined => {
  if (file === undefined) return undefined
  try {
    return builtin("fs")!.readFileSync(file, "utf8")
  } catch {
    throw new TypeError("redact: expected the path of a file with patterns that can be read")
  }
}

/** It begins with the name of an option. */
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message.replace(/^(?:redact(?=: )|\w+(?=: expected ))/, nameOf) : String(error)

const texts = ["url", "apiKey", "agent", "agentVersion", "session", "person", "spool"] as const

const known = [...texts, "exitMs", "redact"].map(nameOf)

/** Of `tachograph storage`, and near one of these. */
const ofStorage = "TACHOGRAPH_SESSIONS"

/** Other programs of the project read variables of other names, which may be set as well. */
const checkNames = (): void => {
  for (const [name] of variables()) {
    if (!name.startsWith(prefix) || known.includes(name) || name === ofStorage) continue
    const names = known.map((each) => each.slice(prefix.length))
    const near = nearest(name.slice(prefix.length), names)
    if (near !== undefined) console.warn(`Tachograph: ${name} is not known (did you mean ${prefix}${near}?).`)
  }
}

/** Older ones lack what the tap uses. Other runtimes say a version of Node that they resemble. */
const checkNode = (): void => {
  const [major = 0, minor = 0] = (globalThis.process?.versions?.node ?? "99").split(".").map(Number)
  if (major > 22 || (major === 22 && minor >= 19)) return
  console.warn(`Tachograph: this is Node ${process.versions.node}, and recording needs 22.19 or newer.`)
}

const start = (): void => {
  checkNode()
  checkNames()
  try {
    const options = {
      ...Object.fromEntries(texts.map((option) => [option, given(option)])),
      exitMs: numberIn(given("exitMs")),
      redact: listIn(given("redact"))
    }
    Recorder.start(options, nameOf).install()
  } catch (error) {
    console.warn(`Tachograph: nothing is recorded: ${messageOf(error)}`)
  }
}

start()
