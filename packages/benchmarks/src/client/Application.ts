/** An application of its own process that asks a provider, with or without recording it. */
import type { Counters } from "@tachograph/client"
import { fork } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"

export type ApplicationRequest =
  | { readonly type: "load"; readonly inFlight: number; readonly seconds: number }
  | { readonly type: "stream" }
  | { readonly type: "flush" }

/** What a load came to. */
export interface Asked {
  /** The duration of each call (ms). */
  readonly durations: ReadonlyArray<number>
  readonly perSecond: number
  /** Processor time of the application a call. */
  readonly cpuMs: number
}

export type ApplicationReply =
  | { readonly type: "asked"; readonly asked: Asked }
  | { readonly type: "streamed"; readonly firstChunkMs: number }
  | { readonly type: "flushed"; readonly counters: Counters | undefined }

export interface Application {
  /** Keeps `inFlight` calls under way for `seconds`. */
  readonly load: (inFlight: number, seconds: number) => Promise<Asked>
  /** Reads one stream to its end. Resolves with the time to its first chunk (ms). */
  readonly stream: () => Promise<number>
  /** Waits for up to two minutes until nothing is left to send. Undefined where it does not record. */
  readonly flush: () => Promise<Counters | undefined>
  readonly stop: () => Promise<void>
}

/** `tachograph` is a server and a key of it. */
export const start = async (provider: string, ...tachograph: ReadonlyArray<string>): Promise<Application> => {
  const script = fileURLToPath(new URL("ApplicationProcess.ts", import.meta.url))
  const child = fork(script, [provider, ...tachograph], { serialization: "advanced" })
  const exited = once(child, "exit")
  const failed = exited.then(() => {
    throw new Error("The application exited")
  })
  failed.catch(() => {})
  await Promise.race([once(child, "message"), failed])
  const request = async (message: ApplicationRequest): Promise<ApplicationReply> => {
    const answered = once(child, "message")
    child.send(message)
    const [reply] = (await Promise.race([answered, failed])) as [ApplicationReply]
    return reply
  }
  return {
    load: async (inFlight, seconds) => {
      const reply = await request({ type: "load", inFlight, seconds })
      if (reply.type !== "asked") throw new Error("The application answered something else")
      return reply.asked
    },
    stream: async () => {
      const reply = await request({ type: "stream" })
      if (reply.type !== "streamed") throw new Error("The application answered something else")
      return reply.firstChunkMs
    },
    flush: async () => {
      const reply = await request({ type: "flush" })
      return reply.type === "flushed" ? reply.counters : undefined
    },
    stop: async () => {
      child.disconnect()
      await exited
    }
  }
}
