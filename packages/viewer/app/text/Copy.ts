/** Copies to the clipboard, also over plain HTTP, where browsers have no `navigator.clipboard`. */
import * as Client from "../server/Client.ts"

const byCommand = (text: string): boolean => {
  const area = document.createElement("textarea")
  area.value = text
  area.setAttribute("readonly", "")
  area.className = "copied"
  document.body.append(area)
  area.select()
  // Deprecated, and the only way without a secure context.
  const isCopied = document.execCommand("copy")
  area.remove()
  return isCopied
}

/** Says something for a moment, aloud too. */
export const announce = (message: string): void => {
  const old = document.querySelector(".notice")
  old?.remove()
  const notice = document.createElement("output")
  notice.className = "notice"
  notice.textContent = message
  document.body.append(notice)
  setTimeout(() => notice.remove(), 2_000)
}

export const text = async (text: string): Promise<void> => {
  const isCopied =
    navigator.clipboard === undefined
      ? byCommand(text)
      : await navigator.clipboard.writeText(text).then(
          () => true,
          () => byCommand(text)
        )
  announce(isCopied ? "Copied" : "The browser does not let this page copy")
}

/** More bytes of an answer are not copied: the clipboard takes them as text. */
const maxAnswer = 64_000_000

/** The JSON of a call, byte for byte. */
export const event = async (event_id: string): Promise<void> => {
  const found = await Client.api.getEvent.text({ event_id }).catch(() => undefined)
  if (found === undefined) return announce("The server does not answer")
  if (found.length > maxAnswer) return announce("This is too long for the clipboard: use curl")
  await text(found)
}

/** A command that reads what is shown. The key is left to the environment: it does not belong into the history of a shell. */
export const curl = (parts: ReadonlyArray<string>): Promise<void> =>
  text(`curl -H "Authorization: Bearer $TACHOGRAPH_API_KEY" '${Client.urlOf(parts).href.replaceAll("'", "%27")}'`)
