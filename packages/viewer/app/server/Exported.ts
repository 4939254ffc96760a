/** Exports of sessions, which are kept as files: a browser holds these outside of the page's memory. */
import { api, ServerError, toError } from "./Client.ts"

/** Bytes at the end of an export that have its last line. */
const lastBytes = 4_096

/** One without a last line is cut. */
const isWhole = async (file: Blob): Promise<boolean> => {
  const end = await file.slice(-lastBytes).text()
  return end.trimEnd().split("\n").at(-1)!.startsWith('{"type":"end"')
}

/** The lines of a session, as the server sends them. Rejects where they are cut. */
const ofSession = async (session: string, onBytes: (bytes: number) => void, signal: AbortSignal): Promise<Blob> => {
  const { body } = await api.export.response({ session }, { signal })
  const chunks: Array<BlobPart> = []
  const reader = body!.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    chunks.push(next.value as Uint8Array<ArrayBuffer>)
    onBytes(next.value.length)
  }
  const file = new Blob(chunks)
  if (!(await isWhole(file))) throw new ServerError(0, "offline")
  return file
}

export interface Progress {
  readonly sessions: number
  readonly bytes: number
}

export interface Exported {
  /** The exports one after the other, which `tachograph import` takes as it takes one. */
  readonly file: Blob
  readonly failed: ReadonlyArray<{ readonly id: string; readonly error: ServerError }>
}

/** One after the other. What fails is left out. */
export const sessions = async (
  ids: ReadonlyArray<string>,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal
): Promise<Exported> => {
  const files: Array<Blob> = []
  const failed: Array<Exported["failed"][number]> = []
  let bytes = 0
  for (const [index, id] of ids.entries()) {
    const onBytes = (count: number) => onProgress({ sessions: index, bytes: (bytes += count) })
    try {
      files.push(await ofSession(id, onBytes, signal))
    } catch (error) {
      if (signal.aborted) break
      failed.push({ id, error: toError(error) })
    }
  }
  return { file: new Blob(files, { type: "application/x-ndjson" }), failed }
}
