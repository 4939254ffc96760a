/**
 * `node --import @tachograph/client/register app.js` records every call that the application makes with `fetch`. It reads
 * TACHOGRAPH_URL, TACHOGRAPH_API_KEY, and, if they are set, TACHOGRAPH_AGENT, TACHOGRAPH_AGENT_VERSION, TACHOGRAPH_SESSION,
 * TACHOGRAPH_PERSON and TACHOGRAPH_SPOOL.
 */
import { variable } from "./platform/Builtins.ts"
import { createRecorder } from "./Recorder.ts"

const start = (): void => {
  const url = variable("TACHOGRAPH_URL")
  const apiKey = variable("TACHOGRAPH_API_KEY")
  if (url === undefined || apiKey === undefined) {
    const missing = url === undefined ? "TACHOGRAPH_URL" : "TACHOGRAPH_API_KEY"
    console.warn(`Tachograph: nothing is recorded, because ${missing} is not set.`)
    return
  }
  try {
    const recorder = createRecorder({
      url,
      apiKey,
      agent: variable("TACHOGRAPH_AGENT"),
      agentVersion: variable("TACHOGRAPH_AGENT_VERSION"),
      session: variable("TACHOGRAPH_SESSION"),
      person: variable("TACHOGRAPH_PERSON"),
      spool: variable("TACHOGRAPH_SPOOL")
    })
    recorder.install()
  } catch (error) {
    console.warn(`Tachograph: nothing is recorded: ${error instanceof Error ? error.message : String(error)}`)
  }
}

start()
