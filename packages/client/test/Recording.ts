/** A recorder into a store in memory, and what it recorded. */
import { MemoryStorage } from "@tachograph/core"
import { createTachograph } from "@tachograph/router"
import { afterFile } from "../../../scripts/vitest/AfterFile.ts"
import type { Event } from "../src/api.ts"
import { createRecorder, type Drop, type Recorder, type RecorderOptions } from "../src/index.ts"

export const openTachograph = async (apiKeys: ReadonlyArray<string> = []) => {
  const tachograph = await createTachograph({ storage: MemoryStorage.layer, thread: false, apiKeys })
  afterFile(tachograph.close)
  return tachograph
}

type OpenTachograph = Awaited<ReturnType<typeof openTachograph>>

export interface Recording {
  readonly recorder: Recorder
  readonly tachograph: OpenTachograph
  readonly drops: Array<Drop>
  /** The recorded events in the order of recording, after everything is sent. */
  readonly events: () => Promise<ReadonlyArray<RecordedCall>>
}

export interface RecordedCall extends Event {
  /** The JSON text of the whole event. */
  readonly text: string
}

export const eventsOf = async (tachograph: OpenTachograph): Promise<ReadonlyArray<RecordedCall>> => {
  const { events } = await tachograph.api.listEvents({ limit: 1000, order: "asc" })
  return Promise.all(
    events.map(async ({ event_id }) => {
      const text = await tachograph.api.getEvent.text({ event_id })
      return { ...(JSON.parse(text) as Omit<RecordedCall, "text">), text }
    })
  )
}

export const startRecording = async (
  options: Partial<RecorderOptions> = {},
  apiKeys: ReadonlyArray<string> = []
): Promise<Recording> => {
  const tachograph = await openTachograph(apiKeys)
  const drops: Array<Drop> = []
  const onDrop = (drop: Drop) => void drops.push(drop)
  const recorder = createRecorder({ tachograph, onDrop, ...options } as RecorderOptions)
  return {
    recorder,
    tachograph,
    drops,
    events: async () => {
      await recorder.flush()
      return eventsOf(tachograph)
    }
  }
}
