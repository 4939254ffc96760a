/** The pages of the documentation, which are one file that is loaded when one of them is first shown. */
import { ServerError } from "../../server/Client.ts"
import { type Asked, useAnswer } from "../../server/useAnswer.ts"
import type { DocsPage } from "./Docs.ts"

/** The file beside the scripts, by `scripts/build.ts`. */
declare const docsUrl: string

let loaded: ReadonlyArray<DocsPage> | undefined

const load = async (signal: AbortSignal): Promise<ReadonlyArray<DocsPage>> => {
  if (loaded !== undefined) return loaded
  const response = await fetch(new URL(docsUrl, import.meta.url), { signal })
  // A server of another version has a file of another name.
  if (!response.ok) throw new ServerError(response.status, "offline")
  return (loaded = (await response.json()) as ReadonlyArray<DocsPage>)
}

export const useDocs = (): Asked<ReadonlyArray<DocsPage>> => useAnswer(load, "docs")
