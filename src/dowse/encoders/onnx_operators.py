"""The operators that text encoders are made of: pure functions of tensors.

Left out on purpose: control flow and subgraphs (Loop, If, Scan, SequenceMap), sequences and optionals, texts
and images, random numbers, `EPContext` (a compiled binary for a device) and all operators of other domains,
which only a library of code can bring.
"""

from __future__ import annotations

_STANDARD = """
    Abs Add And ArgMax ArgMin Attention BatchNormalization BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor
    Cast CastLike Ceil Celu Clip Concat Constant ConstantOfShape Conv Cos CumSum DequantizeLinear Div Dropout
    DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand Flatten Floor Gather GatherElements GatherND Gelu
    Gemm Greater GreaterOrEqual HardSigmoid HardSwish Identity InstanceNormalization IsInf IsNaN
    LayerNormalization LeakyRelu Less LessOrEqual Log LogSoftmax LpNormalization MatMul MatMulInteger Max Mean
    MeanVarianceNormalization Min Mish Mod Mul Neg NonZero Not OneHot Or Pad Pow QLinearMatMul QuantizeLinear
    RMSNormalization Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean
    ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape RotaryEmbedding Round ScatterElements
    ScatterND Selu Shape Sigmoid Sign SimplifiedLayerNormalization Sin Size Slice Softmax Softplus Softsign
    Split Sqrt Squeeze Sub Sum SwiGLU Swish Tan Tanh Tile TopK Transpose Trilu Unsqueeze Where Xor
"""
_MICROSOFT = """
    Attention BiasAdd BiasGelu BiasSoftmax BiasSplitGelu DequantizeLinear DynamicQuantizeMatMul
    EmbedLayerNormalization FastGelu FusedGemm FusedMatMul GatedRelativePositionBias GatherBlockQuantized Gelu
    GroupQueryAttention Inverse LongformerAttention MatMulFpQ4 MatMulIntegerToFloat MatMulNBits
    MultiHeadAttention NGramRepeatBlock PackedAttention PackedMultiHeadAttention QAttention
    QEmbedLayerNormalization QGemm QLinearAdd QLinearConcat QLinearLeakyRelu QLinearMul QLinearReduceMean
    QLinearSigmoid QLinearSoftmax QLinearWhere QuantizeLinear QuickGelu RelativePositionBias RemovePadding
    RestorePadding RotaryEmbedding SkipLayerNormalization SkipSimplifiedLayerNormalization
"""

# By the domain that nodes name; "ai.onnx" is another name of the standard one. The classical models of
# "ai.onnx.ml" are no encoders of texts.
ALLOWED: dict[str, frozenset[str]] = {
    "": frozenset(_STANDARD.split()),
    "ai.onnx": frozenset(_STANDARD.split()),
    "com.microsoft": frozenset(_MICROSOFT.split()),
}
