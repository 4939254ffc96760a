/** Runs programs of this folder as processes of their own. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { afterFile } from "../../../../scripts/vitest/AfterFile.ts"

export const register = fileURLToPath(new URL("../../src/register.ts", import.meta.url))

export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-client-"))
  // A process that was killed just now may still write.
  afterFile(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** Starts a program of this folder. Its lines can be read one by one. */
export const start = (program: string, env: Readonly<Record<string, string>>, args: ReadonlyArray<string> = []) => {
  const file = fileURLToPath(new URL(program, import.meta.url))
  const child = spawn(process.execPath, [...args, file], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const ended = once(child, "close") as Promise<[code: number | null, signal: NodeJS.Signals | null]>
  let errors = ""
  child.stderr.on("data", (text: Buffer) => (errors += text.toString()))
  afterFile(() => void child.kill("SIGKILL"))
  return {
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
    end: async () => {
      const [code, signal] = await ended
      return { code, signal, errors }
    }
  }
}
