/** The text that a percent-encoded one stands for, and one that is not well encoded as it is. */
export const decodedOrSame = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
