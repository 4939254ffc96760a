/** Commands, and what they say. */
import { execFile } from "node:child_process"

/** What a command writes to standard output; fails with all that it wrote, to either, when it ends with anything but 0. */
export const run = (command, args, options) =>
  new Promise((done, fail) =>
    execFile(command, args, { maxBuffer: 2 ** 26, ...options }, (error, stdout, stderr) =>
      error === null
        ? done(stdout)
        : fail(new Error(`${[command, ...args].join(" ")}\n${`${stdout}${stderr}`.trim() || error.message}`))
    )
  )
