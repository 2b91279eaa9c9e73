// Package output turns sessions into what people and programs read: tables, blocks, JSON, and nothing else.
//
// Its one idea is that text from a transcript is foreign. Whatever reaches a terminal went through [Clean]; JSON keeps
// the text, but escapes every character that a terminal would act upon.
package output
