import { execFileSync } from "node:child_process"
import { NotStarted } from "../harness/Server.ts"
import { type Fault, LeftOut } from "../harness/Trial.ts"

const strace = (inject: string) =>
  `strace -D -f -o /dev/null -e trace=fsync,fdatasync -e inject=fsync,fdatasync:${inject}`

/** Fifty rounds have each N once, and a few rounds have some of the start and some of the load. */
const [stride, last] = [7, 50]

const clients = 4

const requireStrace = () => {
  try {
    execFileSync("/bin/sh", ["-c", `${strace("error=EIO:when=1")} true`], { stdio: "pipe" })
  } catch (error) {
    throw new LeftOut(`it needs strace, and permission to trace: ${String(error).split("\n")[0]}`)
  }
}

export const eio: Fault = {
  name: "eio",
  promise: "the Nth fsync fails with EIO, N from 1 to 50; no 200 for what is not there, and it goes on",
  storages: ["sqlite"],
  rounds: 50,
  run: async (trial) => {
    requireStrace()
    const notStarted: Array<number> = []
    const unnoticed: Array<number> = []
    await trial.eachRound(async (round) => {
      const n = 1 + ((round * stride) % last)
      let server
      try {
        server = await trial.serve({ wrapper: strace(`error=EIO:when=${n}`) })
      } catch (error) {
        // The failure came while the file was being opened: it says so, and whoever started it starts it again.
        if (!(error instanceof NotStarted)) throw error
        trial.expect(/Cannot open the storage/.test(error.message), `round ${round}: ${error.message}`)
        notStarted.push(n)
        return
      }
      const load = await trial.load(server, { name: `round ${round}`, clients })
      // Each may share its transaction with all others. Beyond the failure it has to go on by itself.
      await load.acknowledged(clients * n + 50)
      const entries = await load.stop()
      if (entries.every(({ outcome }) => outcome.is === "acknowledged")) unnoticed.push(n)
      for (const { outcome } of entries) {
        trial.expect(
          outcome.is !== "refused" || outcome.why === "503 storage-unavailable",
          `round ${round}: ${JSON.stringify(outcome)}`
        )
      }
      trial.sent(entries)
      await server.kill()
    })
    trial.note(`it did not start where N was: ${notStarted.join(", ") || "none"}`)
    trial.note(`no event was refused where N was: ${unnoticed.join(", ") || "none"}`)
  }
}
