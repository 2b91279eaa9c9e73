#include "go_asm.h"
#include "textflag.h"

// func indexAVX2(text *byte, places int, p, q *Pair) int
TEXT ·indexAVX2(SB), NOSPLIT, $0-40
	MOVQ text+0(FP), SI
	MOVQ places+8(FP), CX
	MOVQ p+16(FP), R9
	MOVQ q+24(FP), R10
	VPBROADCASTB Pair_First(R9), Y0
	VPBROADCASTB Pair_Second(R9), Y1
	VPBROADCASTB Pair_Ignored(R9), Y2
	VPBROADCASTB Pair_First(R10), Y3
	VPBROADCASTB Pair_Second(R10), Y4
	VPBROADCASTB Pair_Ignored(R10), Y5
	VPOR Y2, Y0, Y0
	VPOR Y2, Y1, Y1
	VPOR Y5, Y3, Y3
	VPOR Y5, Y4, Y4
	LEAQ -32(CX), R8 // where the last step begins, so that nothing behind the text is read
	XORQ AX, AX      // where this step begins

step:
	VMOVDQU 0(SI)(AX*1), Y6 // 32 bytes
	VMOVDQU 1(SI)(AX*1), Y7 // the 32 bytes that follow each of them
	VPOR Y2, Y6, Y8
	VPOR Y2, Y7, Y9
	VPOR Y5, Y6, Y6
	VPOR Y5, Y7, Y7
	VPCMPEQB Y0, Y8, Y8
	VPCMPEQB Y1, Y9, Y9
	VPCMPEQB Y3, Y6, Y6
	VPCMPEQB Y4, Y7, Y7
	VPAND Y8, Y9, Y8
	VPAND Y6, Y7, Y6
	VPOR Y6, Y8, Y6
	VPMOVMSKB Y6, DX // a bit for each place where a pair begins
	TESTL DX, DX
	JNZ found
	CMPQ AX, R8
	JGE none
	ADDQ $32, AX
	CMPQ AX, R8
	JLE step
	MOVQ R8, AX
	JMP step

found:
	BSFL DX, DX
	ADDQ DX, AX
	MOVQ AX, ret+32(FP)
	VZEROUPPER
	RET

none:
	MOVQ $-1, ret+32(FP)
	VZEROUPPER
	RET
