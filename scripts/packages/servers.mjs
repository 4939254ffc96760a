/** Processes that serve, on the Node that is to be tried. */
import { spawn } from "node:child_process"
import { createServer } from "node:net"
import { setTimeout as wait } from "node:timers/promises"

/** How long a process may take to answer, or to end, in milliseconds. */
const patience = 20_000

/** A port that nobody listened on a moment ago. */
export const freePort = () =>
  new Promise((done) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address()
      server.close(() => done(port))
    })
  })

/** Starts a process, has `use` do with it what it wants, and ends it with SIGTERM; answers how it ended. */
export const during = async (command, args, options, use) => {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options })
  let said = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk))
  const ended = new Promise((done) => {
    child.once("error", (error) => done({ code: null, signal: error.message }))
    child.once("exit", (code, signal) => done({ code, signal }))
  })
  const late = new AbortController()
  try {
    await Promise.race([
      use({ child, said: () => said, signal: late.signal }),
      ended.then(({ code, signal }) => Promise.reject(new Error(`It ended with ${code ?? signal}.`))),
      wait(patience, undefined, { signal: late.signal }).then(() => Promise.reject(new Error("It took too long.")))
    ])
    child.kill("SIGTERM")
    return await Promise.race([
      ended,
      wait(patience, undefined, { signal: late.signal }).then(() => Promise.reject(new Error("It did not end.")))
    ])
  } catch (error) {
    throw new Error(`${[command, ...args].join(" ")}: ${error.message}\n${said}`, { cause: error })
  } finally {
    late.abort()
    child.kill("SIGKILL")
  }
}

/** Waits until `look` answers something, or nobody waits for it any more. */
export const until = async (look, signal) => {
  for (;;) {
    const found = await look()
    if (found !== undefined) return found
    await wait(20, undefined, { signal })
  }
}

/** Sends the requests of `roundTrip` to `url`. */
export const over = (url, key) => async (method, path, body) => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const response = await fetch(url + path, { method, headers, body })
  return { status: response.status, text: await response.text() }
}
