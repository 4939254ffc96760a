/** Whether the JSON object that a text begins with has come to its end. Each piece is looked at once. */
export const make = () => {
  let depth = 0
  let isBegun = false
  let isInString = false
  let isEscaped = false
  return {
    take: (piece: string) => {
      for (let at = 0; at < piece.length; at++) {
        const character = piece[at]
        if (isEscaped) isEscaped = false
        else if (isInString) {
          if (character === "\\") isEscaped = true
          else if (character === '"') isInString = false
        } else if (character === '"') isInString = true
        else if (character === "{" || character === "[") {
          depth++
          isBegun = true
        } else if (character === "}" || character === "]") depth--
      }
    },
    isBegun: () => isBegun,
    isComplete: () => isBegun && depth <= 0 && !isInString
  }
}
