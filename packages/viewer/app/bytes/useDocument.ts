/** The exact bytes of a text, and the digest that the server gives for them. */
import { useEffect, useState } from "preact/hooks"
import * as Client from "../server/Client.ts"
import { Document } from "./Document.ts"

export interface Opened {
  readonly document: Document
  /** SHA-256, as hexadecimal digits. */
  readonly sha256: string
}

const hex = (base64: string): string =>
  Array.from(atob(base64), (character) => character.charCodeAt(0).toString(16).padStart(2, "0")).join("")

const read = async (parts: ReadonlyArray<string>, signal: AbortSignal): Promise<Opened> => {
  const response = await Client.send(Client.urlOf(parts), { signal })
  const [, digest = ""] = /sha-256=:([^:]+):/.exec(response.headers.get("repr-digest") ?? "") ?? []
  const document = await Document.open(new Uint8Array(await response.arrayBuffer()))
  return { document, sha256: hex(digest) }
}

/** `parts` is the path of the text below the API. */
export const useDocument = (parts: ReadonlyArray<string>) => {
  const [state, setState] = useState<{ readonly opened?: Opened; readonly error?: Client.ServerError }>({})
  const [round, setRound] = useState(0)
  useEffect(() => {
    const aborter = new AbortController()
    let opened: Opened | undefined
    setState({})
    read(parts, aborter.signal).then(
      (result) => {
        opened = result
        if (aborter.signal.aborted) result.document.close()
        else setState({ opened: result })
      },
      (error: unknown) => {
        if (!aborter.signal.aborted) setState({ error: Client.toError(error) })
      }
    )
    return () => {
      aborter.abort()
      opened?.document.close()
    }
  }, [parts.join("/"), round])
  return { ...state, again: () => setRound((round) => round + 1) }
}
