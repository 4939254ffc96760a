/**
 * `node --import @tachograph/client/register app.js` records every call that the application makes with `fetch`. It reads
 * TACHOGRAPH_URL, TACHOGRAPH_API_KEY, and, if they are set, TACHOGRAPH_AGENT, TACHOGRAPH_AGENT_VERSION, TACHOGRAPH_SESSION,
 * TACHOGRAPH_PERSON, TACHOGRAPH_SPOOL and TACHOGRAPH_EXIT_MS.
 */
import { variable } from "./platform/Builtins.ts"
import * as Recorder from "./Recorder.ts"

const nameOf = (option: string): string => `TACHOGRAPH_${option.replaceAll(/[A-Z]/g, "_$&").toUpperCase()}`

const given = (option: string): string | undefined => variable(nameOf(option))

const numberIn = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  return /^\d+$/.test(text) ? Number(text) : Number.NaN
}

/** It begins with the name of an option. */
const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message.replace(/^\w+(?=: expected )/, nameOf) : String(error)

const start = (): void => {
  try {
    const options = {
      url: given("url"),
      apiKey: given("apiKey"),
      agent: given("agent"),
      agentVersion: given("agentVersion"),
      session: given("session"),
      person: given("person"),
      spool: given("spool"),
      exitMs: numberIn(given("exitMs"))
    }
    Recorder.start(options, nameOf).install()
  } catch (error) {
    console.warn(`Tachograph: nothing is recorded: ${messageOf(error)}`)
  }
}

start()
