/** Runs commands to their end. */
import { execFile } from "node:child_process"
import type { ExecFileOptions } from "node:child_process"

/** Returns standard output. A non-zero exit code rejects with everything the command wrote to either stream. */
export const run = (command: string, args: ReadonlyArray<string>, options: ExecFileOptions = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(command, args, { maxBuffer: 2 ** 26, ...options, encoding: "utf8" }, (error, stdout, stderr) => {
      if (error === null) return resolve(stdout)
      const output = `${stdout}${stderr}`.trim()
      reject(new Error(`${[command, ...args].join(" ")}\n${output || error.message}`))
    })
  })
