/** Leaves credentials out of a JSON text. */
import {
  Escapes,
  hasEscapes,
  inCutJson,
  inJson,
  mask,
  maxCredentialCharacters,
  maxWorkFor,
  shortestCut
} from "@tachograph/formats/Credentials"
import * as MaskedParts from "@tachograph/formats/MaskedParts"
import { remembering } from "@tachograph/formats/Remember"

const pattern = (text: string): string => text.replace(/[\\/^$.*+?()[\]{}|-]/g, "\\$&")

/** Of a longer form, only so many characters are looked for at each place of a text. */
const maxBeginning = 32

/** What may begin at a place: whole forms, the longest first, and forms of which a beginning may be the end of a text. */
interface Beginning {
  readonly forms: Array<string>
  readonly cuts: Array<string>
}

/** By what the forms begin with. */
const beginningsOf = (forms: Iterable<string>, cuts: ReadonlyArray<string>): ReadonlyMap<string, Beginning> => {
  const byStart = new Map<string, Beginning>()
  const at = (start: string): Beginning => {
    const known = byStart.get(start) ?? { forms: [], cuts: [] }
    byStart.set(start, known)
    return known
  }
  for (const form of forms) at(form.slice(0, maxBeginning)).forms.push(form)
  for (const form of cuts) at(form.slice(0, shortestCut)).cuts.push(form)
  // Where one begins, so do those that it begins with.
  return new Map(
    Array.from(byStart.keys(), (start) => {
      const all = Array.from(start, (_, length) => byStart.get(start.slice(0, length + 1)) ?? { forms: [], cuts: [] })
      const forms = all.flatMap((each) => each.forms).sort((a, b) => b.length - a.length)
      return [start, { forms, cuts: all.flatMap((each) => each.cuts) }]
    })
  )
}

/** What a text is looked through for. */
interface Search {
  /** Finds where a form may begin. */
  readonly any: RegExp
  readonly beginnings: ReadonlyMap<string, Beginning>
}

/** What to look for, as JSON: one call after the other has the same credentials, and a search takes longer to make than to run. */
const searchFor = remembering((said): Search => {
  const [secrets, withEscapes] = JSON.parse(said) as readonly [ReadonlyArray<string>, boolean]
  const forms = new Set(secrets.flatMap((secret) => inJson(secret, withEscapes)))
  forms.delete("")
  const beginnings = beginningsOf(forms, secrets.flatMap(inCutJson))
  // Where several begin at one place, the first one of the pattern is found.
  const starts = [...beginnings.keys()].sort((a, b) => b.length - a.length).map(pattern)
  return { any: new RegExp(starts.join("|"), "g"), beginnings }
})

const tooMuchWork = (): Error => new Error("Looking for credentials takes too long")

/** Where to mask, each with its beginning and its end in turn. Those that overlap are one. Throws where it would take too long. */
const boundsIn = (text: string, { any, beginnings }: Search): ReadonlyArray<number> => {
  const bounds: Array<number> = []
  const escapes = new Escapes((at) => text[at] === "\\")
  let [work, workOnCuts] = [maxWorkFor(text.length), maxWorkFor(text.length)]
  let quoteAt = -1
  const isAt = (form: string, index: number): boolean => {
    work -= form.length
    if (work < 0) throw tooMuchWork()
    return text.startsWith(form, index)
  }
  /** Where a text ends that breaks off within one of the forms that begin there. */
  const endOfCut = (at: number, forms: ReadonlyArray<string>): number | undefined => {
    if (quoteAt < at) quoteAt = text.indexOf('"', at)
    if (quoteAt === -1) quoteAt = Infinity
    const length = quoteAt - at
    if (length < shortestCut) return undefined
    return forms.some((form) => {
      if (length >= form.length) return false
      workOnCuts -= length
      if (workOnCuts < 0) throw tooMuchWork()
      return form.startsWith(text.slice(at, quoteAt))
    })
      ? quoteAt
      : undefined
  }
  // It may have thrown within the last text.
  any.lastIndex = 0
  for (let found = any.exec(text); found !== null; found = any.exec(text)) {
    const { index } = found
    const [start] = found
    const { cuts, forms } = beginnings.get(start)!
    any.lastIndex = index + 1
    if (escapes.isEscaped(index)) continue
    const form = forms.find((form) => form === start || isAt(form, index))
    const end = form === undefined ? endOfCut(index, cuts) : index + form.length
    if (end === undefined) continue
    const last = bounds.at(-1) ?? 0
    if (bounds.length === 0 || index >= last) bounds.push(index, end)
    else bounds[bounds.length - 1] = Math.max(last, end)
  }
  return bounds
}

const inCharacters = (text: string): MaskedParts.Text => ({
  length: text.length,
  at: (index) => text.charCodeAt(index),
  quoteFrom: (index) => text.indexOf('"', index),
  slice: (from, to) => text.slice(from, to)
})

const partsIn = (text: string, bounds: ReadonlyArray<number>): MaskedParts.Parts => {
  const steps = MaskedParts.of(inCharacters(text), bounds)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/**
 * A JSON text without the credentials, in whatever form it writes them, and without the beginning of one where a text ends with it,
 * as one does that broke off. In one pass: a request with many cookies has hundreds of forms. Where two of them overlap, both are
 * masked as one. It stays JSON: a number is masked as a whole, by a text. Throws where it would take too long.
 */
export const withoutSecrets = (text: string, secrets: ReadonlyArray<string>): string => {
  if (secrets.reduce((sum, { length }) => sum + length, 0) > maxCredentialCharacters) {
    throw new Error("The request has too many credentials")
  }
  const search = searchFor(JSON.stringify([secrets, hasEscapes(text)]))
  if (search.beginnings.size === 0) return text
  const found = boundsIn(text, search)
  if (found.length === 0) return text
  const { bounds, numbers } = partsIn(text, found)
  let masked = ""
  let from = 0
  for (let at = 0; at < bounds.length; at += 2) {
    const begin = bounds[at]!
    masked += text.slice(from, begin) + (numbers.has(begin) ? JSON.stringify(mask) : mask)
    from = bounds[at + 1]!
  }
  return masked + text.slice(from)
}
