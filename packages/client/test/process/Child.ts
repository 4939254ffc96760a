/** Runs programs of this folder as processes of their own. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterFile } from "../../../../scripts/vitest/AfterFile.ts"
import { bundle } from "../../../../scripts/vitest/Program.ts"

const bundles = new Map<string, Promise<string>>()

/** The bundle of a program of this folder, or of the module at another path that is relative to it. */
const bundleOf = (path: string): Promise<string> => {
  const known = bundles.get(path)
  if (known !== undefined) return known
  const name = `client-${path.replace(/^.*\/|\.ts$/g, "")}`
  const made = bundle(name, new URL(path, import.meta.url)).then(({ file }) => file)
  bundles.set(path, made)
  return made
}

export const temporaryFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "tachograph-client-"))
  // A process that was killed just now may still write.
  afterFile(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}

/** Another copy of the client, as where two packages depend on two versions. */
export const copyOfClient = (): Promise<string> => bundleOf("../../src/index.ts")

/** Starts a program of this folder. Its lines can be read one by one. */
export const start = async (
  program: string,
  env: Readonly<Record<string, string>>,
  args: ReadonlyArray<string> = []
) => {
  const child = spawn(process.execPath, [...args, await bundleOf(program)], {
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

/** The same for a program that knows nothing of the client: it is registered by an option of Node. */
export const startRegistered = async (program: string, env: Readonly<Record<string, string>>) =>
  start(program, env, ["--import", await bundleOf("../../src/register.ts")])
