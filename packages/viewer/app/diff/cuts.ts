/** Where a long text is cut. */

/** How far a part of a text goes which has no more characters than this, and ends where a word does if it can. */
export const cutAt = (text: string, length: number): number => {
  if (text.length <= length) return text.length
  const blank = text.slice(0, length + 1).search(/\s\S*$/u)
  if (blank > length / 2) return blank
  return (text.charCodeAt(length - 1) & 0xfc00) === 0xd800 ? length - 1 : length
}

/** The same from the end: where a part begins that has no more characters. */
export const cutFrom = (text: string, length: number): number => {
  if (text.length <= length) return 0
  const from = text.length - length
  const blank = text.slice(from - 1).search(/\s/u)
  if (blank !== -1 && blank < length / 2) return from - 1 + blank
  return (text.charCodeAt(from) & 0xfc00) === 0xdc00 ? from + 1 : from
}
