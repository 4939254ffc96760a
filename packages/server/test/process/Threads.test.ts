/** How a process ends whose threads are running. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"

const program = fileURLToPath(new URL("HangingThread.ts", import.meta.url))

/** The script writes a line when it has come to what it does. */
const run = async (script: string) => {
  const child = spawn(process.execPath, [program, script], { stdio: ["pipe", "pipe", "pipe"] })
  const ended = Promise.all([once(child, "exit"), text(child.stderr)])
  await once(child.stdout, "data")
  child.kill("SIGUSR2")
  const [[code, signal], stderr] = await ended
  child.stdin.destroy()
  return { code, signal, stderr }
}

it("exits when its threads have ended", async () => {
  const script = `require("node:fs").writeSync(1, "started\\n"); setInterval(() => {}, 1_000)`
  expect(await run(script)).toEqual({ code: 3, signal: null, stderr: "" })
})

it("ends by a signal where a thread is in a call that does not return", async () => {
  // Returns when the pipe is closed, after the process has ended.
  const stdio = `{ stdio: [0, 1, "ignore"] }`
  const script = `require("node:child_process").spawnSync("sh", ["-c", "echo started; exec cat"], ${stdio})`
  const { code, signal, stderr } = await run(script)
  expect([code, signal]).toEqual([null, "SIGTERM"])
  expect(stderr).toMatch(/^tachograph: A thread does not end/)
})
