import { execFileSync } from "node:child_process"
import { NotStarted } from "../harness/Server.ts"
import { type Fault, MissingRequirement } from "../harness/Trial.ts"

const strace = (inject: string) =>
  `strace -D -f -o /dev/null -e trace=fsync,fdatasync -e inject=fsync,fdatasync:${inject}`

/** 50 rounds use each N from 1 to 50 once: the first one under load, the second one at the start, and so on. */
const [stride, maxN] = [27, 50]

const requireStrace = () => {
  try {
    execFileSync("/bin/sh", ["-c", "command -v strace"], { stdio: "pipe" })
  } catch {
    throw new MissingRequirement("The fault needs `strace`, which is not installed.")
  }
  try {
    execFileSync("/bin/sh", ["-c", `${strace("error=EIO:when=1")} true`], { stdio: "pipe" })
  } catch (error) {
    throw new MissingRequirement(`The fault needs permission to trace processes: ${String(error).split("\n")[0]}`)
  }
}

export const eio: Fault = {
  name: "eio",
  promise: "the Nth fsync fails with EIO, N from 1 to 50; no acknowledged event is lost, and the server continues",
  storages: ["sqlite"],
  rounds: 50,
  run: async (trial) => {
    requireStrace()
    const failedStarts: Array<number> = []
    const unnoticed: Array<number> = []
    await trial.eachRound(async (round) => {
      const n = 1 + ((round * stride) % maxN)
      let server
      try {
        server = await trial.serve({ wrapper: strace(`error=EIO:when=${n}`) })
      } catch (error) {
        // The fsync failed while the file was opened: the server reports it and exits.
        if (!(error instanceof NotStarted)) throw error
        trial.expect(/Cannot open the storage/.test(error.message), `round ${round}: ${error.message}`)
        failedStarts.push(n)
        return
      }
      const load = await trial.load(server, { name: `round ${round}`, clients: 4 })
      // The clients' events may share a transaction. The count requires the server to continue after the failure.
      await load.acknowledged(load.clients * n + 50)
      const entries = await load.stop()
      if (entries.every(({ outcome }) => outcome.kind === "acknowledged")) unnoticed.push(n)
      for (const { outcome } of entries) {
        trial.expect(
          outcome.kind !== "refused" || outcome.reason === "503 storage-unavailable",
          `round ${round}: ${JSON.stringify(outcome)}`
        )
      }
      trial.sent(entries)
      await server.kill()
    })
    trial.note(`the server did not start for N = ${failedStarts.join(", ") || "none"}`)
    trial.note(`no event was refused for N = ${unnoticed.join(", ") || "none"}`)
  }
}
