/** Compares the messages and the instructions of two sessions or two calls, as they are read by the typed client. */
export { compare, type Compared, countsOf, type Said, withoutInstructions } from "@tachograph/formats/normal/Comparison"
export { type Instructed, instructionsOf } from "@tachograph/formats/normal/Instructions"
export { mainConfiguration } from "@tachograph/formats/normal/MainConfiguration"
export { instructionsText } from "@tachograph/formats/normal/Noise"
export { wordsOf } from "@tachograph/formats/normal/Words"
